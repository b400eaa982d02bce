package dev.weir.host;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.TransactionContext;

/**
 * Where a source task wants its transactions to end. Records are compared as in Connect. A boundary that both commits and
 * aborts fails the task when it is taken, because the task may ignore an exception of this context.
 */
final class SourceTransactions implements TransactionContext {
    private static final String NO_RECORD = "Source record used to define transaction boundaries may not be null";

    private final Set<SourceRecord> committed = new HashSet<>();
    private final Set<SourceRecord> aborted = new HashSet<>();
    private boolean isBatchCommitted;
    private boolean isBatchAborted;

    synchronized boolean hasBoundary() {
        return isBatchCommitted || isBatchAborted;
    }

    /** Removes and returns the transaction ends that the task requested for a batch. Requests for records of other batches are kept. */
    synchronized TransactionEnds takeEnds(List<SourceRecord> records) {
        byte[] ends = new byte[records.size() + 1];
        // The hash of a record covers all of its data, so it is only computed when a record was marked.
        for (int at = 0; at < records.size() && !(committed.isEmpty() && aborted.isEmpty()); at++) {
            ends[at] = takeEnd(records.get(at));
        }
        ends[records.size()] = takeEndOfBatch();
        return new TransactionEnds(ends);
    }

    private byte takeEnd(SourceRecord record) {
        boolean isCommitted = committed.remove(record);
        boolean isAborted = aborted.remove(record);
        if (isCommitted && isAborted) {
            throw new IllegalStateException("Connector requested both commit and abort of same record against"
                + " topic/partition " + record.topic() + "/" + record.kafkaPartition());
        }
        return TransactionEnds.of(isCommitted, isAborted);
    }

    private byte takeEndOfBatch() {
        if (isBatchCommitted && isBatchAborted) {
            throw new IllegalStateException("Connector requested both commit and abort of same transaction");
        }
        byte end = TransactionEnds.of(isBatchCommitted, isBatchAborted);
        isBatchCommitted = false;
        isBatchAborted = false;
        return end;
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
