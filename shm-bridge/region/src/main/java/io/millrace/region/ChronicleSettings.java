package io.millrace.region;

/** What must be set before the first Chronicle class loads: it would report its use over the network and print a banner. */
final class ChronicleSettings {
    private ChronicleSettings() {}

    static void apply() {
        System.setProperty("chronicle.analytics.disable", "true");
        System.setProperty("chronicle.announcer.disable", "true");
    }
}
