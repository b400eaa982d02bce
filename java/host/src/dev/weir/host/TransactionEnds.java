package dev.weir.host;

/** Where transactions end in a batch: after some of its records, and after the batch. */
final class TransactionEnds {
    static final TransactionEnds NONE = new TransactionEnds(null);

    private static final byte NO_END = 0;
    private static final byte COMMIT = 1;
    private static final byte ABORT = 2;

    /** For each record and, last, for the batch: `NO_END`, `COMMIT` or `ABORT`. Null if there are no ends. */
    private final byte[] ends;

    TransactionEnds(byte[] ends) {
        this.ends = ends;
        if (ends == null) return;
        int last = ends.length - 1;
        // If the last record ends the transaction, the next one is empty at the end of the batch, and is not ended.
        if (last > 0 && ends[last - 1] != NO_END) ends[last] = NO_END;
    }

    static byte of(boolean isCommitted, boolean isAborted) {
        return isCommitted ? COMMIT : isAborted ? ABORT : NO_END;
    }

    int after(int record) {
        return ends == null ? NO_END : ends[record];
    }

    int afterBatch() {
        return ends == null ? NO_END : ends[ends.length - 1];
    }
}
