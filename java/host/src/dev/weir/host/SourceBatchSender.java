package dev.weir.host;

import java.util.List;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.source.SourceRecord;

/** Sends the batches of a source task. A large batch is divided into several frames. */
final class SourceBatchSender {
    /** A frame ends after the record with which it exceeds this size, in bytes. */
    private static final int FRAME_BYTES = 16 * 1024 * 1024;

    /** Markers before and after each record of a frame: a record follows, the frame ends, or the batch ends. */
    private static final int END_OF_BATCH = 0;
    private static final int RECORD = 1;
    private static final int END_OF_FRAME = 2;

    private final Connection connection;
    private final SourceChain chain;
    private long lastBatch;

    SourceBatchSender(Connection connection, SourceChain chain) {
        this.connection = connection;
        this.chain = chain;
    }

    /** The number of the batch that is sent next. */
    long nextBatch() {
        return lastBatch + 1;
    }

    /** Sends a batch. Returns the total size of its frames, in bytes. */
    long send(List<SourceRecord> records, List<ChainRecord> results, TransactionEnds ends) {
        lastBatch++;
        long bytes = 0;
        int[] next = {0};
        do {
            bytes += connection.event("source.batch", (body) -> next[0] = writeFrame(body, records, results, ends, next[0]));
        } while (next[0] <= records.size());
        return bytes;
    }

    /**
     * Writes a frame that begins with the record at index `first`. Returns the index of the first record of the next frame, or
     * `records.size() + 1` if the batch is complete.
     */
    private int writeFrame(FrameWriter body, List<SourceRecord> records, List<ChainRecord> results, TransactionEnds ends,
            int first) {
        if (first == 0) {
            body.writeFixed(lastBatch, 8);
            chain.writeRetries(body, results);
        }
        for (int at = first; at < records.size(); at++) {
            if (body.length() > FRAME_BYTES) {
                body.writeByte(END_OF_FRAME);
                return at;
            }
            body.writeByte(RECORD);
            body.writeByte(ends.after(at));
            try {
                chain.write(body, records.get(at), results, at);
            } catch (FrameTooLargeException tooLarge) {
                throw new ConnectException("a record for topic " + records.get(at).topic() + " is too large: "
                    + tooLarge.getMessage(), tooLarge);
            }
        }
        body.writeByte(END_OF_BATCH);
        body.writeByte(ends.afterBatch());
        return records.size() + 1;
    }
}
