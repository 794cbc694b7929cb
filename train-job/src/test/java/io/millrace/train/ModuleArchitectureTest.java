package io.millrace.train;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.millrace.train", importOptions = ImportOption.DoNotIncludeTests.class)
class ModuleArchitectureTest {
    /** Its class path has neither. */
    @ArchTest
    static final ArchRule CHILD_SEES_NEITHER_FLINK_NOR_THE_LAKE = noClasses()
            .that()
            .resideInAnyPackage("..train.child..", "..train.spec..", "..train.algorithm..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "org.apache.flink..",
                    "org.apache.iceberg..",
                    "io.millrace.lake..",
                    "io.millrace.jobs..",
                    "..train.job..",
                    "..train.matrix..",
                    "..train.run..",
                    "..train.dispatch..");

    @ArchTest
    static final ArchRule ONLY_THE_CHILD_CALLS_NATIVE_CODE = noClasses()
            .that()
            .resideOutsideOfPackage("..train.child..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("com.sun.jna..", "io.millrace.engine..");

    @ArchTest
    static final ArchRule SQL_IS_IN_ONE_PLACE = noClasses()
            .that()
            .resideInAnyPackage("..train.job..", "..train.matrix..", "..train.child..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.sql..");
}
