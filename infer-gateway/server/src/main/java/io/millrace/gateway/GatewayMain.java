package io.millrace.gateway;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.ContractException;
import io.millrace.region.RegionException;
import io.millrace.store.StoreConfig;
import java.io.IOException;
import java.net.BindException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The gateway process: {@code GatewayMain --conf DIR}. SIGTERM and SIGINT drain it. */
public final class GatewayMain {
    private static final Logger log = LoggerFactory.getLogger(GatewayMain.class);

    /** Exit codes of sysexits.h: usage, configuration, software, operating system. */
    private static final int USAGE = 64;

    private static final int SOFTWARE = 70;
    private static final int SYSTEM = 71;
    private static final int CONFIGURATION = 78;

    private GatewayMain() {}

    /** Runs until the process is told to end. */
    public static void main(String[] arguments) throws InterruptedException {
        if (arguments.length != 2 || !arguments[0].equals("--conf")) {
            System.err.println("usage: GatewayMain --conf DIR");
            System.exit(USAGE);
        }
        Gateway gateway = start(Path.of(arguments[1]));
        Runtime.getRuntime().addShutdownHook(new Thread(gateway::close, "shutdown"));
        Throwable failure = gateway.awaitEnd();
        if (failure != null) {
            log.error("gateway ends because of a failure", failure);
            System.exit(SOFTWARE);
        }
    }

    private static Gateway start(Path directory) {
        try {
            GatewayConfig config = GatewayConfig.from(ConfigFile.read(directory.resolve("gateway.properties")));
            ConfigFile storeFile = ConfigFile.read(directory.resolve("store.properties"));
            StoreConfig store = StoreConfig.from(storeFile);
            storeFile.rejectUnknownKeys();
            return Gateway.start(config, store);
        } catch (ContractException e) {
            throw exit(CONFIGURATION, e, "");
        } catch (RegionException e) {
            throw exit(SYSTEM, e, e.hint());
        } catch (IOException e) {
            throw exit(
                    SYSTEM,
                    e,
                    isPortTaken(e) ? "Another process may use the port: change metrics-port or http-port." : "");
        }
    }

    private static boolean isPortTaken(IOException failure) {
        return failure instanceof BindException || failure.getCause() instanceof BindException;
    }

    private static AssertionError exit(int code, Exception reason, String hint) {
        log.error("gateway cannot start: reason={}, hint={}", reason.getMessage(), hint);
        System.err.println("gateway cannot start: " + reason.getMessage() + (hint.isEmpty() ? "" : "\nhint: " + hint));
        System.exit(code);
        return new AssertionError("unreachable");
    }
}
