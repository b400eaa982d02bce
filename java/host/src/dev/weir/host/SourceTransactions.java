package dev.weir.host;

import java.util.IdentityHashMap;
import java.util.Map;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.TransactionContext;

/** Where a source task wants its transactions to end. */
final class SourceTransactions implements TransactionContext {
    static final int NONE = 0;
    static final int COMMIT = 1;
    static final int ABORT = 2;

    private final Map<SourceRecord, Integer> byRecord = new IdentityHashMap<>();
    private int afterBatch = NONE;

    synchronized boolean hasBoundary() {
        return afterBatch != NONE;
    }

    synchronized int takeBatchBoundary() {
        int boundary = afterBatch;
        afterBatch = NONE;
        return boundary;
    }

    synchronized int takeBoundary(SourceRecord record) {
        Integer boundary = byRecord.remove(record);
        return boundary == null ? NONE : boundary;
    }

    @Override
    public synchronized void commitTransaction() {
        afterBatch = COMMIT;
    }

    @Override
    public synchronized void commitTransaction(SourceRecord record) {
        mark(record, COMMIT);
    }

    @Override
    public synchronized void abortTransaction() {
        afterBatch = ABORT;
    }

    @Override
    public synchronized void abortTransaction(SourceRecord record) {
        mark(record, ABORT);
    }

    private void mark(SourceRecord record, int boundary) {
        if (record == null) throw new NullPointerException("the record of a transaction boundary may not be null");
        Integer other = byRecord.put(record, boundary);
        if (other != null && other != boundary) {
            throw new IllegalStateException("one record cannot both commit and abort its transaction");
        }
    }
}
