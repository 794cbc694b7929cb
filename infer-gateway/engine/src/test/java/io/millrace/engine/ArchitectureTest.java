package io.millrace.engine;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.millrace.engine", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule nativeCallsStayInThreeClasses = noClasses()
            .that()
            .doNotHaveSimpleName("NativeBooster")
            .and()
            .haveNameNotMatching(".*NativeBooster\\$.*")
            .and()
            .doNotHaveSimpleName("XgboostLibrary")
            .and()
            .doNotHaveSimpleName("OnnxLibrary")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("com.sun.jna..", "ml.dmlc..");

    @ArchTest
    static final ArchRule graphsStayAmongTheirOwn = noClasses()
            .that()
            .haveSimpleNameNotStartingWith("Onnx")
            .and()
            .haveNameNotMatching(".*\\.Onnx.*")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("ai.onnxruntime..");

    @ArchTest
    static final ArchRule knowsNoOtherModule = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.millrace.store..", "io.millrace.gateway..", "io.millrace.region..", "io.millrace.lake..");
}
