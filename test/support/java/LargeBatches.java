package dev.weir.test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** Returns one batch of `count` records, each with a value of `record.bytes` bytes. */
public class LargeBatches extends SingleTaskSource {
    @Override public Class<? extends Task> taskClass() {
        return LargeBatchesTask.class;
    }

    public static class LargeBatchesTask extends SourceTask {
        private Map<String, String> config;
        private boolean isPolled;

        @Override public void start(Map<String, String> given) {
            config = given;
        }

        @Override public List<SourceRecord> poll() throws InterruptedException {
            if (isPolled) {
                Thread.sleep(20);
                return null;
            }
            isPolled = true;
            byte[] value = new byte[Integer.parseInt(config.get("record.bytes"))];
            List<SourceRecord> records = new ArrayList<>();
            for (int at = 0; at < Integer.parseInt(config.get("count")); at++) {
                records.add(new SourceRecord(Map.of(), Map.of("n", (long) at), "large", Schema.BYTES_SCHEMA, value));
            }
            return records;
        }

        @Override public void stop() {}

        @Override public String version() {
            return "1";
        }
    }
}
