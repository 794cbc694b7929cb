package io.millrace.region;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

class RegionArchitectureTest {
    private final JavaClasses classes = new ClassFileImporter()
            .importUrl(Region.class.getProtectionDomain().getCodeSource().getLocation());

    @Test
    void mapsAreKnownInTwoPlacesOnly() {
        noClasses()
                .that()
                .doNotHaveSimpleName("RegionMaps")
                .and()
                .doNotHaveSimpleName("Registry")
                .and()
                .doNotHaveSimpleName("Value")
                .and()
                .doNotHaveSimpleName("LineValue")
                .and()
                .doNotHaveSimpleName("SlabValue")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("net.openhft.chronicle.map..", "net.openhft.chronicle.hash..")
                .check(classes);
    }

    @Test
    void knowsNoEnvelopeAndNoModel() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.millrace.contract.envelope..", "io.millrace.contract.fitted..")
                .check(classes);
    }
}
