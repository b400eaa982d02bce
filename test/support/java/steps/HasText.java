package dev.weir.test.steps;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Matches records whose value contains a text. */
public class HasText<R extends ConnectRecord<R>> implements Predicate<R> {
    private String text;

    @Override
    public ConfigDef config() {
        return new ConfigDef().define("text", ConfigDef.Type.STRING, ConfigDef.Importance.HIGH, "The text to find.");
    }

    @Override
    public void configure(Map<String, ?> configs) {
        text = (String) configs.get("text");
    }

    @Override
    public boolean test(R record) {
        return String.valueOf(record.value()).contains(text);
    }

    @Override
    public void close() {}
}
