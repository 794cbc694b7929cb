package io.millrace.snapshot.supervise;

import io.millrace.jobs.FlinkRest;
import io.millrace.lake.LakeConfig;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
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
        return inside(savepointUri, jobId);
    }

    private String checkpointDirectory(String jobId) {
        return inside(checkpointUri, jobId);
    }

    private static String inside(String uri, String jobId) {
        return uri + (uri.endsWith("/") ? "" : "/") + jobId;
    }

    /**
     * The newest savepoint or checkpoint of the job; empty when it never finished one.
     *
     * @throws IOException if a directory cannot be read
     */
    Optional<String> newest(String jobId) throws IOException {
        Optional<String> newest = newestOwn(jobId);
        if (newest.isPresent()) {
            return newest;
        }
        Optional<String> remembered = flink.latestCheckpoint(jobId);
        return remembered.isPresent() && exists(remembered.get()) ? remembered : Optional.empty();
    }

    /**
     * The newest one in the job's own directories: not the one that it was started from.
     *
     * @throws IOException if a directory cannot be read
     */
    Optional<String> newestOwn(String jobId) throws IOException {
        // A job that failed while it was being stopped goes on from its savepoint, so its checkpoints may be newer than
        // that.
        return Stream.concat(
                        finishedIn(savepointDirectory(jobId), "savepoint-").stream(),
                        finishedIn(checkpointDirectory(jobId), "chk-").stream())
                .max(Comparator.comparingLong(FileStatus::getModificationTime))
                .map(metadata -> metadata.getPath().getParent().toString());
    }

    /**
     * Deletes all savepoints and checkpoints of a job. It must have ended, and nothing may be continued from it any more.
     *
     * @throws IOException if they cannot be deleted
     */
    void delete(String jobId) throws IOException {
        for (String directory : List.of(savepointDirectory(jobId), checkpointDirectory(jobId))) {
            Path path = new Path(directory);
            FileSystem files = fileSystem(path);
            if (files.exists(path) && !files.delete(path, true)) {
                throw new IOException("checkpoints of a former job must be deletable: path=" + directory);
            }
        }
    }

    /** Whether the path still holds a finished savepoint or checkpoint. */
    static boolean exists(String path) throws IOException {
        Path metadata = new Path(path, METADATA);
        return fileSystem(metadata).exists(metadata);
    }

    /** Metadata files of the finished savepoints or checkpoints in a directory; each is written last. */
    private static List<FileStatus> finishedIn(String directory, String prefix) throws IOException {
        Path path = new Path(directory);
        FileSystem files = fileSystem(path);
        List<FileStatus> finished = new ArrayList<>();
        try {
            for (FileStatus entry : files.listStatus(path)) {
                Path metadata = new Path(entry.getPath(), METADATA);
                if (entry.getPath().getName().startsWith(prefix) && files.exists(metadata)) {
                    finished.add(files.getFileStatus(metadata));
                }
            }
        } catch (FileNotFoundException e) {
            return finished; // the job never got so far, or the directory is being cleaned
        }
        return finished;
    }

    private static FileSystem fileSystem(Path path) throws IOException {
        return path.getFileSystem(LakeConfig.hadoopConfiguration());
    }
}
