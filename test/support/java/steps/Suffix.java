package dev.weir.test.steps;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.transforms.Transformation;

/** Appends a text to the value. The value itself selects a failure. */
public class Suffix<R extends ConnectRecord<R>> implements Transformation<R> {
    private String text;
    private int attempts;

    @Override
    public ConfigDef config() {
        return new ConfigDef().define("text", ConfigDef.Type.STRING, ConfigDef.NO_DEFAULT_VALUE,
            new ConfigDef.NonEmptyString(), ConfigDef.Importance.HIGH, "The text to append.");
    }

    @Override
    public String version() {
        return "1.0";
    }

    @Override
    public void configure(Map<String, ?> configs) {
        text = (String) config().parse(configs).get("text");
    }

    @Override
    public R apply(R record) {
        String value = String.valueOf(record.value());
        if (value.startsWith("drop")) return null;
        if (value.startsWith("broken")) throw new DataException("the value is " + value);
        if (value.startsWith("flaky") && ++attempts < 3) throw new RetriableException("attempt " + attempts);
        return record.newRecord(record.topic(), record.kafkaPartition(), record.keySchema(), record.key(),
            record.valueSchema(), value + text, record.timestamp());
    }

    @Override
    public void close() {}
}
