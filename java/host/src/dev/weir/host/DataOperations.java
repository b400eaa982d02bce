package dev.weir.host;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Converters, transformations and predicates beside plugins that are not of this host. Batches, not single records. */
final class DataOperations {
    private final Plugins plugins;
    private final Map<Integer, Object> created = new HashMap<>();

    DataOperations(Plugins plugins) {
        this.plugins = plugins;
    }

    void addTo(Map<String, Session.Operation> operations) {
        operations.put("data.create", (argument) -> create(new Argument(argument)));
        operations.put("data.from-connect", this::fromConnect);
        operations.put("data.to-connect", this::toConnect);
        operations.put("data.transform", this::transform);
        operations.put("data.echo", DataOperations::echo);
    }

    private Object create(Argument argument) throws Exception {
        PluginKind kind = PluginKind.of(argument.text("kind"));
        Map<String, String> config = argument.strings("config");
        boolean isKey = argument.flag("isKey");
        Object plugin = plugins.create(argument.text("class"), kind.type);
        plugins.call(() -> {
            if (plugin instanceof Converter converter) converter.configure(config, isKey);
            else if (plugin instanceof HeaderConverter converter) converter.configure(config);
            else if (plugin instanceof Transformation<?> transformation) transformation.configure(config);
            else if (plugin instanceof Predicate<?> predicate) predicate.configure(config);
            else throw new ProtocolException("a plugin of kind " + kind.label + " does not work on data");
            return null;
        });
        created.put(argument.number("id"), plugin);
        return null;
    }

    /** Values and their schemas as Java has them after the crossing, for tests of the boundary. */
    private static Object echo(FrameReader body) {
        int count = body.readCount();
        List<Object> answers = new ArrayList<>(count);
        for (int at = 0; at < count; at++) answers.add(new SchemaAndValue(body.readSchema(), body.readValue()));
        return toBody(answers);
    }

    /** Bytes for each value. A value that cannot be converted is a failure of its own. */
    private Object fromConnect(FrameReader body) throws Exception {
        Object plugin = find(body.readVarint());
        int count = body.readCount();
        List<Object> answers = new ArrayList<>(count);
        for (int at = 0; at < count; at++) {
            String topic = body.readString();
            String header = (String) body.readValue();
            Schema schema = body.readSchema();
            Object value = body.readValue();
            answers.add(outcome(() -> plugin instanceof HeaderConverter converter
                ? converter.fromConnectHeader(topic, header, schema, value)
                : ((Converter) plugin).fromConnectData(topic, schema, value)));
        }
        return toBody(answers);
    }

    private Object toConnect(FrameReader body) throws Exception {
        Object plugin = find(body.readVarint());
        int count = body.readCount();
        List<Object> answers = new ArrayList<>(count);
        for (int at = 0; at < count; at++) {
            String topic = body.readString();
            String header = (String) body.readValue();
            byte[] bytes = (byte[]) body.readValue();
            answers.add(outcome(() -> plugin instanceof HeaderConverter converter
                ? converter.toConnectHeader(topic, header, bytes)
                : ((Converter) plugin).toConnectData(topic, bytes)));
        }
        return toBody(answers);
    }

    /** The record that a transformation makes, null for one that it drops; or whether a predicate holds. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private Object transform(FrameReader body) throws Exception {
        Object plugin = find(body.readVarint());
        boolean isSink = body.readByte() == 1;
        int count = body.readCount();
        List<Object> answers = new ArrayList<>(count);
        for (int at = 0; at < count; at++) {
            ConnectRecord record = isSink ? RecordCodec.readSink(body) : RecordCodec.readSource(body);
            answers.add(outcome(() -> plugin instanceof Predicate predicate
                ? predicate.test(record)
                : ((Transformation) plugin).apply(record)));
        }
        return toBody(answers);
    }

    private interface Step {
        Object run() throws Exception;
    }

    private Object outcome(Step step) {
        try {
            return plugins.call(step::run);
        } catch (Exception thrown) {
            return new Failed(thrown);
        }
    }

    /** One value of a batch that failed, beside others that did not. */
    private record Failed(Throwable thrown) {}

    private static Connection.Body toBody(List<Object> answers) {
        return (body) -> {
            body.writeVarint(answers.size());
            for (Object answer : answers) writeAnswer(body, answer);
        };
    }

    private static void writeAnswer(FrameWriter body, Object answer) {
        body.writeByte(answer instanceof Failed ? 1 : 0);
        if (answer instanceof Failed failed) body.writeValue(Failures.describe(failed.thrown()));
        else if (answer instanceof SchemaAndValue both) RecordCodec.writeData(body, both.schema(), both.value());
        else if (answer instanceof ConnectRecord<?> record) RecordCodec.writeRecord(body, record);
        else body.writeValue(answer);
    }

    private Object find(int id) {
        Object plugin = created.get(id);
        if (plugin == null) throw new ProtocolException("plugin " + id + " was not created");
        return plugin;
    }
}
