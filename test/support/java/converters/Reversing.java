package dev.weir.test.converters;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.storage.Converter;

/** Converts a text to the bytes of the reversed text. A header names the role of the converter. */
public class Reversing implements Converter {
    private String role;
    private String mark;

    @Override
    public ConfigDef config() {
        return new ConfigDef()
            .define("converter.type", ConfigDef.Type.STRING, ConfigDef.Importance.LOW, "The role.")
            .define("mark", ConfigDef.Type.STRING, "", ConfigDef.Importance.LOW, "The first character.");
    }

    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
        role = isKey ? "of a key" : "of a value";
        mark = configs.containsKey("mark") ? (String) configs.get("mark") : "";
    }

    @Override
    public byte[] fromConnectData(String topic, Headers headers, Schema schema, Object value) {
        headers.add("converted", role.getBytes(StandardCharsets.UTF_8));
        return fromConnectData(topic, schema, value);
    }

    @Override
    public byte[] fromConnectData(String topic, Schema schema, Object value) {
        if (value == null) return null;
        if (value.toString().startsWith("unwritable")) throw new DataException("the value is " + value);
        return (mark + new StringBuilder(value.toString()).reverse()).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public SchemaAndValue toConnectData(String topic, byte[] bytes) {
        if (bytes == null) return SchemaAndValue.NULL;
        String text = new String(bytes, StandardCharsets.UTF_8);
        if (!text.startsWith(mark)) throw new DataException("the bytes do not begin with " + mark);
        String value = new StringBuilder(text.substring(mark.length())).reverse().toString();
        return new SchemaAndValue(Schema.OPTIONAL_STRING_SCHEMA, value);
    }
}
