package dev.weir.host;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.SchemaAndValue;

/** The chain of one connection: consecutive parts of a task's pipeline, whose records come in batches. */
final class ChainOperations {
    private final PluginLocations locations;
    /** Read by another thread when the connection ends. */
    private volatile RecordChain chain;

    ChainOperations(PluginLocations locations) {
        this.locations = locations;
    }

    void addTo(Map<String, Session.Operation> operations) {
        operations.put("chain.open", (argument) -> open(new Argument(argument)));
        operations.put("chain.apply", this::apply);
        operations.put("chain.close", (argument) -> close());
        operations.put("data.echo", ChainOperations::echo);
    }

    void listenOn(Map<String, Session.Listener> listeners) {
        listeners.put("chain.interrupt", (argument) -> interrupt());
    }

    /** Ends a retry that waits, because the task stops or the worker is gone. */
    void interrupt() {
        RecordChain current = chain;
        if (current != null) current.interrupt();
    }

    /** Opens the chain beside the connector of a task, which is part of the request to start it. Null if it has none. */
    RecordChain openBeside(Argument task) throws Exception {
        Argument argument = task.object("chain");
        if (argument != null) open(argument);
        return chain;
    }

    private Object open(Argument argument) throws Exception {
        if (chain != null) throw new ProtocolException("the connection has a chain already");
        HostLog.enterTask(argument.text("name"));
        chain = new RecordChain(locations, argument);
        return null;
    }

    /** The results in the order of the records, behind the number of retries. */
    private Object apply(FrameReader body) throws InterruptedException {
        RecordChain current = chain;
        if (current == null) throw new ProtocolException("the connection has no chain");
        List<ChainRecord> records = new ArrayList<>();
        while (body.readByte() == 1) records.add(current.codec.read(body));
        int retries = 0;
        for (ChainRecord record : records) {
            current.apply(record);
            retries += record.retries;
        }
        int allRetries = retries;
        return (Connection.Body) (results) -> {
            results.writeVarint(allRetries);
            for (ChainRecord record : records) current.codec.write(results, record);
        };
    }

    private Object close() {
        RecordChain current = chain;
        chain = null;
        if (current != null) current.close();
        return null;
    }

    /** Values and their schemas as Java has them after the crossing, for tests of the boundary. */
    private static Object echo(FrameReader body) {
        int count = body.readCount();
        List<SchemaAndValue> answers = new ArrayList<>(count);
        for (int at = 0; at < count; at++) answers.add(new SchemaAndValue(body.readSchema(), body.readValue()));
        return (Connection.Body) (echoed) -> {
            echoed.writeVarint(count);
            for (SchemaAndValue answer : answers) {
                echoed.writeByte(0);
                RecordCodec.writeData(echoed, answer.schema(), answer.value());
            }
        };
    }
}
