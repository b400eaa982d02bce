package dev.weir.host;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.connect.source.SourceRecord;

/** The batches of a source, as they cross to the worker: as polled, or as the chain behind the source left them. */
final class SourceChain {
    private final RecordChain chain;

    /** @param chain null for none */
    SourceChain(RecordChain chain) {
        this.chain = chain;
    }

    /** What the chain made of each record; the list is empty without a chain. */
    List<ChainRecord> apply(List<SourceRecord> polled) throws InterruptedException {
        List<ChainRecord> results = new ArrayList<>();
        if (chain == null) return results;
        for (SourceRecord record : polled) {
            // All of a result is new to the worker, whether or not a transformation was applied.
            ChainRecord result = ChainRecord.of(record);
            chain.apply(result);
            results.add(result);
        }
        return results;
    }

    /** The number of retries, which precedes the records of a batch. */
    void writeRetries(FrameWriter body, List<ChainRecord> results) {
        if (chain != null) body.writeVarint(results.stream().mapToInt((result) -> result.retries).sum());
    }

    void write(FrameWriter body, SourceRecord polled, List<ChainRecord> results, int index) {
        if (chain == null) {
            RecordCodec.writeSource(body, polled);
            return;
        }
        ChainRecord result = results.get(index);
        body.writePosition(polled.sourcePartition());
        body.writePosition(polled.sourceOffset());
        chain.codec.write(body, result);
        // The worker describes a failed record as it was polled.
        if (result.failure != null) writeFailed(body, polled);
    }

    private static void writeFailed(FrameWriter body, SourceRecord polled) {
        int start = body.length();
        try {
            RecordCodec.writeRecord(body, polled);
        } catch (FrameTooLargeException tooLarge) {
            throw tooLarge;
        } catch (RuntimeException notData) {
            body.truncate(start);
            RecordCodec.writeRecord(body, polled.newRecord(polled.topic(), polled.kafkaPartition(), null, null, null, null,
                polled.timestamp(), List.of()));
        }
    }
}
