package dev.weir.test;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.components.Versioned;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Parts of a pipeline that append their version to what they process. Tests compile it with several versions. */
public final class VersionedSteps {
    static final String VERSION = "1.0";

    private VersionedSteps() {}

    /** The value `hang` waits until the file `hang.until` exists, and creates `hang.until` + `.reached`. */
    public static class Stamp<R extends ConnectRecord<R>> implements Transformation<R>, Versioned {
        private String hangUntil;

        @Override public ConfigDef config() {
            return new ConfigDef();
        }

        @Override public void configure(Map<String, ?> configs) {
            hangUntil = (String) configs.get("hang.until");
        }

        @Override public R apply(R record) {
            if ("hang".equals(record.value())) hang();
            return record.newRecord(record.topic(), record.kafkaPartition(), record.keySchema(), record.key(),
                record.valueSchema(), record.value() + " t" + VERSION, record.timestamp());
        }

        private void hang() {
            try {
                Files.writeString(Path.of(hangUntil + ".reached"), "");
                while (!Files.exists(Path.of(hangUntil))) Thread.sleep(20);
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }

        @Override public String version() {
            return VERSION;
        }

        @Override public void close() {}
    }

    /** Matches all records if its version is that of the key `is`. */
    public static class IsVersion<R extends ConnectRecord<R>> implements Predicate<R>, Versioned {
        private boolean matches;

        @Override public ConfigDef config() {
            return new ConfigDef();
        }

        @Override public void configure(Map<String, ?> configs) {
            matches = VERSION.equals(configs.get("is"));
        }

        @Override public boolean test(R record) {
            return matches;
        }

        @Override public String version() {
            return VERSION;
        }

        @Override public void close() {}
    }

    public static class StampConverter implements Converter, Versioned {
        private String mark;

        @Override public void configure(Map<String, ?> configs, boolean isKey) {
            mark = (isKey ? " k" : " c") + VERSION + configs.get("mark");
        }

        @Override public byte[] fromConnectData(String topic, Schema schema, Object value) {
            return (value + mark).getBytes(StandardCharsets.UTF_8);
        }

        @Override public SchemaAndValue toConnectData(String topic, byte[] bytes) {
            return new SchemaAndValue(Schema.STRING_SCHEMA, new String(bytes, StandardCharsets.UTF_8) + mark);
        }

        @Override public String version() {
            return VERSION;
        }
    }

    public static class StampHeaders implements HeaderConverter, Versioned {
        @Override public ConfigDef config() {
            return new ConfigDef();
        }

        @Override public void configure(Map<String, ?> configs) {}

        @Override public byte[] fromConnectHeader(String topic, String name, Schema schema, Object value) {
            return (value + " h" + VERSION).getBytes(StandardCharsets.UTF_8);
        }

        @Override public SchemaAndValue toConnectHeader(String topic, String name, byte[] bytes) {
            return new SchemaAndValue(Schema.STRING_SCHEMA, new String(bytes, StandardCharsets.UTF_8) + " h" + VERSION);
        }

        @Override public String version() {
            return VERSION;
        }

        @Override public void close() {}
    }
}
