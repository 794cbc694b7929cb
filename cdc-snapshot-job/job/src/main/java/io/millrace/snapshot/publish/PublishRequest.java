package io.millrace.snapshot.publish;

import org.jspecify.annotations.Nullable;

/**
 * A snapshot request on its way.
 *
 * @param snapshotId the request's id
 * @param relation the table it is for
 * @param lsn position in the log of the state it asks for
 * @param taken the first checkpoint that holds it, or the first complete one after that was given up; null while there is none,
 *     or while the table has not caught up
 * @param awaited the table's last commit that must be in the snapshot, or one of the same job after it up to {@code taken};
 *     null when none was on its way
 */
record PublishRequest(
        long snapshotId,
        String relation,
        long lsn,
        @Nullable CommitMark taken,
        @Nullable CommitMark awaited) {

    PublishRequest takenBy(CommitMark checkpoint, @Nullable CommitMark lastCommit) {
        return new PublishRequest(snapshotId, relation, lsn, checkpoint, lastCommit);
    }

    /** The same request, as if it had just been read. */
    PublishRequest waiting() {
        return new PublishRequest(snapshotId, relation, lsn, null, null);
    }

    PublishRequest at(long position) {
        return new PublishRequest(snapshotId, relation, position, taken, awaited);
    }
}
