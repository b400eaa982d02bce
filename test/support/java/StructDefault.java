package dev.weir.test;

import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** Returns a record, again and again, whose schema has a struct as the default of a field. */
public class StructDefault extends SingleTaskSource {
    @Override public Class<? extends Task> taskClass() {
        return StructDefaultTask.class;
    }

    public static class StructDefaultTask extends SourceTask {
        @Override public void start(Map<String, String> given) {}

        @Override public List<SourceRecord> poll() {
            SchemaBuilder point = SchemaBuilder.struct().name("Point").field("x", Schema.INT32_SCHEMA);
            Schema withDefault = point.defaultValue(new Struct(point).put("x", 1)).build();
            Schema schema = SchemaBuilder.struct().field("at", withDefault).build();
            Struct value = new Struct(schema).put("at", new Struct(withDefault).put("x", 2));
            return List.of(new SourceRecord(Map.of(), Map.of(), "points", schema, value));
        }

        @Override public void stop() {}

        @Override public String version() {
            return "1";
        }
    }
}
