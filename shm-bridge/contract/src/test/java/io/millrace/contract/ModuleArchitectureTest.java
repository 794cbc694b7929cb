package io.millrace.contract;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.millrace.contract", importOptions = ImportOption.DoNotIncludeTests.class)
final class ModuleArchitectureTest {
    @ArchTest
    static final ArchRule USES_THE_JDK_AND_JACKSON_ONLY = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.millrace.contract..",
                    "java..",
                    "com.fasterxml.jackson.core..",
                    "com.fasterxml.jackson.databind..",
                    "org.jspecify.annotations..");

    @ArchTest
    static final ArchRule PACKAGES_HAVE_NO_CYCLES =
            slices().matching("io.millrace.contract.(*)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule THE_ROOT_KNOWS_NOTHING_BELOW = noClasses()
            .that()
            .resideInAPackage("io.millrace.contract")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.millrace.contract.layout..",
                    "io.millrace.contract.envelope..",
                    "io.millrace.contract.fitted..",
                    "io.millrace.contract.matrix..");

    @ArchTest
    static final ArchRule TALKS_TO_NOBODY = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.net..", "java.sql..", "java.rmi..", "javax..");
}
