package dev.weir.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/**
 * Emits one record, whose partition and offset have values of all types or what the key `wrong` says. Its task appends the types and values of
 * the stored offset to the file of the key `events`.
 */
public final class OffsetTypes extends SingleTaskSource {
    @Override public Class<? extends Task> taskClass() {
        return OffsetTypesTask.class;
    }

    public static final class OffsetTypesTask extends SourceTask {
        private static final Map<String, Object> PARTITION = new LinkedHashMap<>();
        private Map<String, String> config;
        private boolean isDone;

        static {
            PARTITION.put("double", 2.0);
            PARTITION.put("int", 2);
        }

        @Override public void start(Map<String, String> given) {
            config = given;
            Map<String, Object> stored = context.offsetStorageReader().offset(PARTITION);
            StringBuilder line = new StringBuilder("stored");
            if (stored != null) {
                new TreeMap<>(stored).forEach((name, value) -> line.append(' ').append(name).append('=')
                    .append(value == null ? "" : value.getClass().getSimpleName() + ' ').append(value));
            }
            try {
                Files.writeString(Path.of(config.get("events")), line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        @Override public List<SourceRecord> poll() throws InterruptedException {
            if (isDone) {
                Thread.sleep(50);
                return null;
            }
            isDone = true;
            return List.of(new SourceRecord(PARTITION, offset(), config.get("topic"), Schema.STRING_SCHEMA, "value"));
        }

        @SuppressWarnings({"unchecked", "rawtypes"})
        private Map<String, ?> offset() {
            return switch (config.getOrDefault("wrong", "")) {
                case "keys" -> (Map) Map.of(1, "one");
                case "list" -> Map.of("list", List.of(1));
                case "decimal" -> Map.of("decimal", new BigDecimal("1.50"));
                default -> types();
            };
        }

        private static Map<String, Object> types() {
            Map<String, Object> types = new LinkedHashMap<>();
            types.put("whole", 1.0);
            types.put("large", 1.0E10);
            types.put("small", 1.5E-7);
            types.put("negativeZero", -0.0);
            types.put("half", 0.5);
            types.put("float", 1.1f);
            types.put("wholeFloat", 3.0f);
            types.put("nan", Double.NaN);
            types.put("infinite", Float.NEGATIVE_INFINITY);
            types.put("byte", (byte) 1);
            types.put("short", (short) 2);
            types.put("int", 3);
            types.put("long", Long.MAX_VALUE);
            types.put("flag", true);
            types.put("text", "1.0");
            types.put("bytes", new byte[] {1, 2, -1});
            types.put("nothing", null);
            return types;
        }

        @Override public void stop() {}

        @Override public String version() {
            return "1";
        }
    }
}
