package dev.weir.host;

import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.TransactionContext;

/**
 * Where a source task wants its transactions to end. Records are compared as in Connect. A boundary that both commits and
 * aborts fails the task when it is taken, because the task may ignore an exception of this context.
 */
final class SourceTransactions implements TransactionContext {
    static final int NONE = 0;
    static final int COMMIT = 1;
    static final int ABORT = 2;

    private static final String NO_RECORD = "Source record used to define transaction boundaries may not be null";

    private final Set<SourceRecord> committed = new HashSet<>();
    private final Set<SourceRecord> aborted = new HashSet<>();
    private boolean isBatchCommitted;
    private boolean isBatchAborted;

    synchronized boolean hasBoundary() {
        return isBatchCommitted || isBatchAborted;
    }

    synchronized int takeBatchBoundary() {
        if (isBatchCommitted && isBatchAborted) {
            throw new IllegalStateException("Connector requested both commit and abort of same transaction");
        }
        int boundary = isBatchCommitted ? COMMIT : isBatchAborted ? ABORT : NONE;
        isBatchCommitted = false;
        isBatchAborted = false;
        return boundary;
    }

    synchronized int takeBoundary(SourceRecord record) {
        // The hash of a record covers all of its data, so it is only computed when a record was marked.
        boolean isCommitted = !committed.isEmpty() && committed.remove(record);
        boolean isAborted = !aborted.isEmpty() && aborted.remove(record);
        if (isCommitted && isAborted) {
            throw new IllegalStateException("Connector requested both commit and abort of same record against"
                + " topic/partition " + record.topic() + "/" + record.kafkaPartition());
        }
        return isCommitted ? COMMIT : isAborted ? ABORT : NONE;
    }

    @Override
    public synchronized void commitTransaction() {
        isBatchCommitted = true;
    }

    @Override
    public synchronized void commitTransaction(SourceRecord record) {
        committed.add(Objects.requireNonNull(record, NO_RECORD));
    }

    @Override
    public synchronized void abortTransaction() {
        isBatchAborted = true;
    }

    @Override
    public synchronized void abortTransaction(SourceRecord record) {
        aborted.add(Objects.requireNonNull(record, NO_RECORD));
    }
}
