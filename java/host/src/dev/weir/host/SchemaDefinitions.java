package dev.weir.host;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import org.apache.kafka.connect.data.ConnectSchema;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;

/** The schemas that the other side of a connection has sent, by id. */
final class SchemaDefinitions {
    private static final Schema.Type[] TYPES = Schema.Type.values();
    /** Replaced, not cleared: frames received before may still be waiting to be decoded on another thread. */
    private Map<Integer, Schema> byId = new ConcurrentHashMap<>();

    /** The definitions for a frame received now. */
    IntFunction<Schema> current() {
        Map<Integer, Schema> known = byId;
        return (id) -> {
            Schema schema = known.get(id);
            if (schema == null) throw new ProtocolException("schema " + id + " was used before it was sent");
            return schema;
        };
    }

    void forgetAll() {
        byId = new ConcurrentHashMap<>();
    }

    @SuppressWarnings("unchecked")
    void define(int id, byte[] definition) {
        FrameReader reader = new FrameReader(definition, current());
        int ordinal = reader.readByte();
        if (ordinal >= TYPES.length) throw new ProtocolException("no schema type has number " + ordinal);
        Schema.Type type = TYPES[ordinal];
        boolean isOptional = reader.readByte() == 1;
        String name = (String) reader.readValue();
        Integer version = (Integer) reader.readValue();
        String doc = (String) reader.readValue();
        Map<String, String> parameters = (Map<String, String>) reader.readValue();
        Object defaultValue = reader.readValue();
        List<Field> fields = null;
        Schema keys = null;
        Schema values = null;
        switch (type) {
            case ARRAY -> values = reader.readSchema();
            case MAP -> {
                keys = reader.readSchema();
                values = reader.readSchema();
            }
            case STRUCT -> {
                int count = reader.readCount();
                fields = new ArrayList<>(count);
                for (int index = 0; index < count; index++) {
                    fields.add(new Field(reader.readString(), index, reader.readSchema()));
                }
            }
            default -> { }
        }
        byId.put(id, new ConnectSchema(
            type, isOptional, defaultValue, name, version, doc, parameters, fields, keys, values));
    }
}
