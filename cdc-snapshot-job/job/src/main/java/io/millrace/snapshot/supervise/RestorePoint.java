package io.millrace.snapshot.supervise;

import io.millrace.jobs.FlinkRest;
import io.millrace.lake.LakeConfig;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/*
 * Three places know where a job can be continued: the cluster while it remembers the job, the savepoint directory of the job, and
 * its checkpoint directory. A cluster that was killed remembers nothing, so the directories are read as well; a directory without
 * its metadata file is one that was never finished.
 */
/** Finds the newest state of a job that has ended. */
final class RestorePoint {
    private static final String METADATA = "_metadata";

    private final FlinkRest flink;
    private final String checkpointUri;
    private final String savepointUri;

    RestorePoint(FlinkRest flink, String checkpointUri, String savepointUri) {
        this.flink = flink;
        this.checkpointUri = checkpointUri;
        this.savepointUri = savepointUri;
    }

    /** Where the savepoints of a job go: a directory of its own, so that they can be found again. */
    String savepointDirectory(String jobId) {
        return savepointUri + (savepointUri.endsWith("/") ? "" : "/") + jobId;
    }

    /**
     * The newest savepoint or checkpoint of the job; empty when it never finished one.
     *
     * @throws IOException if a directory cannot be read
     */
    Optional<String> newest(String jobId) throws IOException {
        Optional<String> stopped = newestIn(savepointDirectory(jobId), "savepoint-");
        if (stopped.isPresent()) {
            return stopped;
        }
        Optional<String> remembered = flink.latestCheckpoint(jobId);
        if (remembered.isPresent() && exists(remembered.get())) {
            return remembered;
        }
        return newestIn(checkpointUri + (checkpointUri.endsWith("/") ? "" : "/") + jobId, "chk-");
    }

    /** Whether the path still holds a finished savepoint or checkpoint. */
    static boolean exists(String path) throws IOException {
        Path metadata = new Path(path, METADATA);
        return fileSystem(metadata).exists(metadata);
    }

    private static Optional<String> newestIn(String directory, String prefix) throws IOException {
        Path path = new Path(directory);
        FileStatus[] entries;
        try {
            entries = fileSystem(path).listStatus(path);
        } catch (FileNotFoundException e) {
            return Optional.empty();
        }
        FileStatus newest = null;
        for (FileStatus entry : entries) {
            boolean finished = entry.getPath().getName().startsWith(prefix)
                    && exists(entry.getPath().toString());
            if (finished && (newest == null || entry.getModificationTime() > newest.getModificationTime())) {
                newest = entry;
            }
        }
        return newest == null ? Optional.empty() : Optional.of(newest.getPath().toString());
    }

    private static FileSystem fileSystem(Path path) throws IOException {
        return path.getFileSystem(LakeConfig.hadoopConfiguration());
    }
}
