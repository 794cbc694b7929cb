package io.millrace.region;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** The processes of this machine, as /proc shows them. */
public final class ProcessTable {
    private ProcessTable() {}

    /** As {@link OwnerProbe#startTicks}. */
    public static long startTicks(int pid) {
        try {
            String stat =
                    new String(Files.readAllBytes(Path.of("/proc/" + pid + "/stat")), StandardCharsets.ISO_8859_1);
            // The command in parentheses may hold blanks and parentheses; field 3 follows the last one.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", 21);
            boolean zombie = fields[0].equals("Z") || fields[0].equals("X");
            return zombie ? OwnerProbe.GONE : Long.parseLong(fields[19]);
        } catch (NoSuchFileException e) {
            return OwnerProbe.GONE;
        } catch (IOException | RuntimeException e) {
            // A process that ends while it is read gives an I/O error; the next sweep sees it gone.
            return OwnerProbe.UNKNOWN;
        }
    }
}
