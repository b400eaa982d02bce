package dev.weir.host;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

/** The life of one sink task. Each response carries what the task has asked its context for since the last one. */
final class SinkTaskOperations {
    private final Plugins plugins;
    private final Connection connection;
    private final ChainOperations chains;
    /** Null if no part of the pipeline runs before the sink. */
    private RecordChain chain;
    /** What the chain made of records that were not put yet, by their numbers. */
    private final Map<Long, SinkRecord> converted = new HashMap<>();
    private long lastNumber = -1;
    /** The records of the next `put`. Guarded by itself, as is `invalidData`. */
    private final List<SinkRecord> received = new ArrayList<>();
    /** Why a record of the next `put` is no Connect data; null if all are. */
    private DataException invalidData;
    private SinkTask task;
    private HostSinkContext context;
    private HostMetrics metrics;

    SinkTaskOperations(Plugins plugins, Connection connection, ChainOperations chains) {
        this.plugins = plugins;
        this.connection = connection;
        this.chains = chains;
    }

    void addTo(Map<String, Session.Operation> operations) {
        operations.put("sink.start", (argument) -> start(new Argument(argument)));
        operations.put("sink.open", (argument) -> open(partitionsOf(argument.readValue())));
        operations.put("sink.close", (argument) -> close(partitionsOf(argument.readValue())));
        operations.put("sink.put", (argument) -> put());
        operations.put("sink.convert", this::convert);
        operations.put("sink.put-converted", this::putConverted);
        operations.put("sink.pre-commit", (argument) -> preCommit(offsetsOf(argument.readValue())));
        operations.put("sink.stop", (argument) -> stop());
    }

    /** The records of a batch arrive in one or more `sink.records` events, before the request `sink.put`. */
    void listenOn(Map<String, Session.Listener> listeners) {
        listeners.put("sink.records", this::receive);
    }

    private void receive(FrameReader body) {
        synchronized (received) {
            try {
                received.addAll(recordsOf(body));
            } catch (DataException invalid) {
                // Thrown by `put`: here it would end the connection, and the worker would not learn the reason.
                invalidData = invalid;
            }
        }
    }

    private Object start(Argument argument) throws Exception {
        if (task != null) throw new ProtocolException("the connection has a task already");
        Map<String, String> config = argument.strings("config");
        String name = argument.text("name");
        HostLog.enterTask(name);
        chain = chains.openBeside(argument);
        SinkTask created = plugins.createTask(argument.text("class"), config, SinkTask.class);
        task = created;
        metrics = HostMetrics.ofTask(name);
        context = new HostSinkContext(connection, config, metrics, argument.flag("reportsErrantRecords"));
        return run(() -> {
            created.initialize(context);
            created.start(config);
        });
    }

    private Object open(List<TopicPartition> partitions) throws Exception {
        context.assigned(partitions);
        return run(() -> task.open(partitions));
    }

    private Object close(List<TopicPartition> partitions) throws Exception {
        Object asked = run(() -> task.close(partitions));
        context.revoked(partitions);
        return asked;
    }

    private Object put() throws Exception {
        List<SinkRecord> records;
        DataException invalid;
        synchronized (received) {
            records = new ArrayList<>(received);
            invalid = invalidData;
            received.clear();
            invalidData = null;
        }
        if (invalid != null) throw invalid;
        return run(() -> task.put(records));
    }

    /** Applies the chain and keeps what passes. The response has the outcomes, behind the number of retries. */
    private Object convert(FrameReader body) throws InterruptedException {
        RecordChain current = chain;
        if (current == null) throw new ProtocolException("the sink has no chain");
        List<ChainRecord> records = new ArrayList<>();
        while (body.readByte() == 1) records.add(current.codec.read(body));
        int retries = 0;
        for (ChainRecord record : records) {
            current.apply(record);
            retries += record.retries;
            lastNumber++;
            if (record.failure == null && !record.isDropped) {
                converted.put(lastNumber, (SinkRecord) record.toConnectRecord());
            }
        }
        int allRetries = retries;
        return (Connection.Body) (outcomes) -> {
            outcomes.writeVarint(allRetries);
            for (ChainRecord record : records) current.codec.writeOutcome(outcomes, record);
        };
    }

    /** Records are kept until a batch is accepted, because the worker repeats one that the task rejects for now. */
    private Object putConverted(FrameReader body) throws Exception {
        List<SinkRecord> records = new ArrayList<>();
        for (int count = body.readCount(); count > 0; count--) {
            SinkRecord record = converted.get(body.readFixed(8));
            if (record == null) throw new ProtocolException("a record was not converted");
            records.add(record);
        }
        Object asked = run(() -> task.put(records));
        converted.clear();
        return asked;
    }

    /** The offsets that may be committed, under `offsets`; null where the task leaves that to the worker. */
    private Object preCommit(Map<TopicPartition, OffsetAndMetadata> offsets) throws Exception {
        context.awaitReports();
        Map<TopicPartition, OffsetAndMetadata> safe = plugins.call(() -> task.preCommit(offsets));
        Map<String, Object> answer = context.takeRequests();
        answer.put("offsets", safe == null ? List.of() : toList(safe));
        return answer;
    }

    private Object stop() throws Exception {
        if (task == null) return null;
        SinkTask stopping = task;
        task = null;
        try {
            return plugins.call(() -> {
                stopping.stop();
                return null;
            });
        } finally {
            metrics.close();
        }
    }

    private interface Call {
        void run() throws Exception;
    }

    /** What a call that fails has asked its context for is sent before the failure, such as the delay of a retry. */
    private Map<String, Object> run(Call code) throws Exception {
        try {
            plugins.call(() -> {
                code.run();
                return null;
            });
        } catch (Exception failed) {
            connection.event("sink.requests", (body) -> body.writeValue(context.takeRequests()));
            throw failed;
        }
        return context.takeRequests();
    }

    private static List<SinkRecord> recordsOf(FrameReader body) {
        List<SinkRecord> records = new ArrayList<>();
        while (body.readByte() == 1) records.add(RecordCodec.readSink(body));
        return records;
    }

    @SuppressWarnings("unchecked")
    private static List<TopicPartition> partitionsOf(Object value) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (Object one : (List<Object>) value) partitions.add(partitionOf((List<Object>) one));
        return partitions;
    }

    @SuppressWarnings("unchecked")
    private static Map<TopicPartition, OffsetAndMetadata> offsetsOf(Object value) {
        return toOffsets((List<Object>) value);
    }

    @SuppressWarnings("unchecked")
    static Map<TopicPartition, OffsetAndMetadata> toOffsets(List<Object> list) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new LinkedHashMap<>();
        for (Object one : list) {
            List<Object> entry = (List<Object>) one;
            offsets.put(partitionOf(entry), new OffsetAndMetadata(((Number) entry.get(2)).longValue()));
        }
        return offsets;
    }

    private static TopicPartition partitionOf(List<Object> entry) {
        return new TopicPartition((String) entry.get(0), ((Number) entry.get(1)).intValue());
    }

    static List<Object> toList(Map<TopicPartition, OffsetAndMetadata> offsets) {
        List<Object> list = new ArrayList<>();
        offsets.forEach((partition, offset) -> {
            if (offset != null) list.add(List.of(partition.topic(), partition.partition(), offset.offset()));
        });
        return list;
    }
}
