package dev.weir.bench;

import dev.weir.test.SingleTaskSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** Emits groups of records at a constant rate. The value of a record is the time at which it is emitted. */
public class TickSource extends SingleTaskSource {
    @Override public Class<? extends Task> taskClass() {
        return TickTask.class;
    }

    public static class TickTask extends SourceTask {
        private String topic;
        private int records;
        private long intervalNs;
        private long nextNs = System.nanoTime();

        @Override public void start(Map<String, String> config) {
            topic = config.get("topic");
            records = Integer.parseInt(config.get("group.records"));
            intervalNs = Long.parseLong(config.get("group.interval.ms")) * 1_000_000;
        }

        @Override public List<SourceRecord> poll() {
            for (long leftNs = nextNs - System.nanoTime(); leftNs > 0; leftNs = nextNs - System.nanoTime()) LockSupport.parkNanos(leftNs);
            nextNs += intervalNs;
            String now = Long.toString(System.nanoTime());
            Map<String, String> partition = Map.of("task", "0");
            Map<String, String> offset = Map.of("time", now);
            return IntStream.range(0, records)
                .mapToObj(at -> new SourceRecord(partition, offset, topic, Schema.STRING_SCHEMA, now))
                .toList();
        }

        @Override public void stop() {}

        @Override public String version() {
            return "1";
        }
    }
}
