package io.millrace.store;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.millrace.store", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule openDalStaysInTwoClasses = noClasses()
            .that()
            .haveNameNotMatching(".*\\.(ObjectStore|OpenDalLibrary)(\\$.*)?")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.apache.opendal..");

    @ArchTest
    static final ArchRule knowsNoOtherModule = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.millrace.engine..", "io.millrace.gateway..", "io.millrace.region..", "io.millrace.lake..");
}
