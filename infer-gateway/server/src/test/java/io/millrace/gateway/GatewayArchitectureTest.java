package io.millrace.gateway;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

class GatewayArchitectureTest {
    private final JavaClasses classes = new ClassFileImporter()
            .importUrl(Gateway.class.getProtectionDomain().getCodeSource().getLocation());

    @Test
    void theCoreKnowsNoTransportNoStoreAndNoMetrics() {
        noClasses()
                .that()
                .resideInAPackage("io.millrace.gateway.core..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.millrace.region..",
                        "io.millrace.store..",
                        "io.prometheus..",
                        "org.eclipse.jetty..",
                        "io.millrace.gateway.http..",
                        "io.millrace.gateway.memory..",
                        "io.millrace.gateway.model..",
                        "io.millrace.gateway.metrics..",
                        "io.millrace.gateway.trace..",
                        "io.millrace.gateway.profile..")
                .check(classes);
    }

    @Test
    void onlyTheExportOfSpansKnowsOpenTelemetry() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.millrace.gateway.trace..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.opentelemetry..")
                .check(classes);
    }

    @Test
    void onlyTheConnectorOfSharedMemoryAndTheWiringKnowTheRegion() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "io.millrace.gateway.model..", "io.millrace.gateway.metrics..", "io.millrace.gateway.profile..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.millrace.region..", "io.millrace.gateway.memory..")
                .check(classes);
    }

    @Test
    void onlyTheConnectorOfHttpKnowsJettyAndTheDatabase() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.millrace.gateway.http..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.eclipse.jetty..", "java.sql..")
                .check(classes);
        noClasses()
                .that()
                .resideInAPackage("io.millrace.gateway.http..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.millrace.region..", "io.millrace.store..", "io.millrace.gateway.memory..")
                .check(classes);
    }

    @Test
    void nobodySeesChronicle() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("net.openhft..")
                .check(classes);
    }
}
