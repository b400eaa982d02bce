package dev.weir.host;

import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.ConnectSchema;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;

/**
 * The ids under which this side of a connection has sent schemas. A schema is found by identity first, because comparing
 * schemas costs as much as they are large, and by equality next, because some plugins build a new one for every record.
 */
final class SchemaIds {
    /** A plugin that never repeats a schema would fill the memory of both sides: then both begin anew. */
    private static final int IDS_MAX = 10_000;
    private static final int IDENTITIES_MAX = 20_000;

    interface Sender {
        void define(int id, byte[] definition);

        void forgetAll();
    }

    private final Sender sender;
    private final Map<Schema, Integer> byIdentity = new IdentityHashMap<>();
    private final Map<Schema, Integer> byValue = new HashMap<>();
    private int lastId;

    SchemaIds(Sender sender) {
        this.sender = sender;
    }

    /** To be called before a frame is begun: ids that a frame has used stay valid until its end. */
    void trim() {
        if (byValue.size() > IDS_MAX) {
            byIdentity.clear();
            byValue.clear();
            sender.forgetAll();
        } else if (byIdentity.size() > IDENTITIES_MAX) {
            byIdentity.clear();
        }
    }

    int idOf(Schema schema) {
        Integer known = byIdentity.get(schema);
        if (known != null) return known;
        Schema built = schema.schema();
        Integer equal = byValue.get(built);
        int id = equal != null ? equal : define(built);
        byIdentity.put(schema, id);
        return id;
    }

    private int define(Schema schema) {
        FrameWriter definition = new FrameWriter(this);
        definition.writeByte(schema.type().ordinal());
        definition.writeByte(schema.isOptional() ? 1 : 0);
        definition.writeValue(schema.name());
        definition.writeValue(schema.version());
        definition.writeValue(schema.doc());
        definition.writeValue(schema.parameters());
        // With its own schema, a struct would refer to the schema that is being defined.
        if (schema.defaultValue() instanceof Struct struct) definition.writeStruct(struct, withoutDefault(schema));
        else definition.writeValue(schema.defaultValue());
        switch (schema.type()) {
            case ARRAY -> definition.writeSchema(schema.valueSchema());
            case MAP -> {
                definition.writeSchema(schema.keySchema());
                definition.writeSchema(schema.valueSchema());
            }
            case STRUCT -> {
                List<Field> fields = schema.fields();
                definition.writeVarint(fields.size());
                for (Field field : fields) {
                    definition.writeString(field.name());
                    definition.writeSchema(field.schema());
                }
            }
            default -> { }
        }
        int id = ++lastId;
        byValue.put(schema, id);
        sender.define(id, definition.toBytes());
        return id;
    }

    private static Schema withoutDefault(Schema schema) {
        return new ConnectSchema(schema.type(), schema.isOptional(), null, schema.name(), schema.version(), schema.doc(),
            schema.parameters(), schema.fields(), null, null);
    }
}
