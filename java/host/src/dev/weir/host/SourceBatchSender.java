package dev.weir.host;

import java.util.List;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.source.SourceRecord;

/** Sends the batches of a source task, each in as many frames as its size needs. */
final class SourceBatchSender {
    /** A frame ends with the record that exceeds this. */
    private static final int FRAME_BYTES = 16 * 1024 * 1024;

    /** What follows a record of a frame, or its beginning: another record, another frame, or nothing. */
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

    /** Returns the bytes of its frames. */
    long send(List<SourceRecord> records, List<ChainRecord> results, TransactionEnds ends) {
        lastBatch++;
        long bytes = 0;
        int[] next = {0};
        do {
            bytes += connection.event("source.batch", (body) -> next[0] = writeFrame(body, records, results, ends, next[0]));
        } while (next[0] <= records.size());
        return bytes;
    }

    /** Returns the index of the record that the next frame begins with; behind the last frame, a larger one. */
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
