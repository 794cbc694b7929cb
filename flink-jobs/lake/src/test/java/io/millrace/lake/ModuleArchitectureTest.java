package io.millrace.lake;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.millrace.lake", importOptions = ImportOption.DoNotIncludeTests.class)
class ModuleArchitectureTest {
    @ArchTest
    static final ArchRule LAYERS = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .layer("lake")
            .definedBy("io.millrace.lake")
            .layer("fit")
            .definedBy("io.millrace.lake.fit")
            .layer("statistics")
            .definedBy("io.millrace.lake.statistics")
            .layer("column")
            .definedBy("io.millrace.lake.column")
            .whereLayer("lake")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("fit")
            .mayOnlyBeAccessedByLayers("lake")
            .whereLayer("statistics")
            .mayOnlyBeAccessedByLayers("lake", "fit");

    /** Iceberg's calls that name Parquet's classes are avoided: engines bring Iceberg with Parquet under another name. */
    @ArchTest
    static final ArchRule PARQUET_IN_ONE_PLACE = noClasses()
            .that()
            .resideOutsideOfPackage("io.millrace.lake.column")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.apache.parquet..", "org.apache.iceberg.parquet..");

    @ArchTest
    static final ArchRule NO_PARQUET_THROUGH_ICEBERG = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.apache.iceberg.parquet..", "org.apache.iceberg.data.parquet..");

    @ArchTest
    static final ArchRule SKETCH_LIBRARY_IN_ONE_PLACE = noClasses()
            .that()
            .resideOutsideOfPackage("io.millrace.lake.statistics")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.apache.datasketches..");
}
