package dev.weir.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.provider.ConfigProvider;
import org.apache.kafka.common.metrics.Measurable;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.sink.SinkConnector;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;
import org.apache.kafka.connect.source.ConnectorTransactionBoundaries;
import org.apache.kafka.connect.source.ExactlyOnceSupport;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Plugins that append what is called to the file of their configuration key `events`. */
public final class RecordingConnectors {
    private RecordingConnectors() {}

    private static void record(Map<String, String> config, String event) {
        try {
            Files.writeString(Path.of(config.get("events")), event + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static String read(String file) {
        try {
            return Files.exists(Path.of(file)) ? Files.readString(Path.of(file)).trim() : "";
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static void addMetric(PluginMetrics metrics, String name, double value) {
        LinkedHashMap<String, String> tags = new LinkedHashMap<>();
        tags.put("kind", "test");
        Measurable measurable = (config, nowMs) -> value;
        metrics.addMetric(metrics.metricName(name, "A metric of the test.", tags), measurable);
    }

    /** Counts from 1 to `limit`, with offsets from `base`. Requests new tasks when the file `mode.file` changes. */
    public static class Numbers extends SourceConnector {
        private Map<String, String> config;
        private volatile boolean isStopped;
        private volatile String mode;

        @Override public void start(Map<String, String> given) {
            config = given;
            mode = read(given.getOrDefault("mode.file", "none"));
            Map<String, Object> offset = context().offsetStorageReader().offset(Map.of("part", "a"));
            record(config, "connector offset " + (offset == null ? null : offset.get("n") + " " + offset.get("n").getClass().getSimpleName()));
            addMetric(context().pluginMetrics(), "started-connectors", 1);
            System.out.println("printed by the connector");
            Thread watch = new Thread(this::watch);
            watch.setDaemon(true);
            watch.start();
        }

        private void watch() {
            while (!isStopped) {
                String now = read(config.getOrDefault("mode.file", "none"));
                if (!now.equals(mode)) {
                    mode = now;
                    context().requestTaskReconfiguration();
                }
                try {
                    Thread.sleep(20);
                } catch (InterruptedException ended) {
                    return;
                }
            }
        }

        @Override public Class<? extends Task> taskClass() {
            return NumbersTask.class;
        }

        @Override public List<Map<String, String>> taskConfigs(int max) {
            Map<String, String> task = new HashMap<>(config);
            task.put("mode", mode);
            return List.of(task);
        }

        @Override public void stop() {
            isStopped = true;
        }

        @Override public ConfigDef config() {
            return new ConfigDef();
        }

        @Override public ExactlyOnceSupport exactlyOnceSupport(Map<String, String> given) {
            return switch (given.getOrDefault("support", "supported")) {
                case "supported" -> ExactlyOnceSupport.SUPPORTED;
                case "unsupported" -> ExactlyOnceSupport.UNSUPPORTED;
                case "failing" -> throw new ConnectException("nobody knows");
                case "endless" -> forever();
                default -> null;
            };
        }

        private static ExactlyOnceSupport forever() {
            for (;;) Thread.onSpinWait();
        }

        @Override public ConnectorTransactionBoundaries canDefineTransactionBoundaries(Map<String, String> given) {
            return given.containsKey("transactions") ? ConnectorTransactionBoundaries.SUPPORTED : ConnectorTransactionBoundaries.UNSUPPORTED;
        }

        @Override public boolean alterOffsets(Map<String, String> given, Map<Map<String, ?>, Map<String, ?>> offsets) {
            record(given, "alter " + new ArrayList<>(offsets.entrySet()));
            if (given.getOrDefault("alters", "").equals("never")) throw new UnsupportedOperationException();
            return given.getOrDefault("alters", "").equals("own");
        }

        @Override public String version() {
            return "1";
        }
    }

    /**
     * Each batch has up to ten numbers. With `transactions`, the third of each ten commits (`commitTransaction(record)`), the
     * sixth aborts the three before it, and the whole batch commits.
     */
    public static class NumbersTask extends SourceTask {
        private static final Logger LOG = LoggerFactory.getLogger("dev.weir.test.numbers");
        private static final Map<String, String> PART = Map.of("part", "a");

        private Map<String, String> config;
        private long base;
        private long last;
        private String lastCommit = "";
        private final List<SourceRecord> returned = new ArrayList<>();

        @Override public void start(Map<String, String> given) {
            config = given;
            base = Long.parseLong(given.getOrDefault("base", "0"));
            Map<String, Object> offset = context.offsetStorageReader().offset(PART);
            last = offset == null ? 0 : (Long) offset.get("n") - base;
            if (offset != null) lastCommit = "commit after " + offset.get("n");
            record(config, "task " + given.get("mode") + " after " + last + " transactions " + (context.transactionContext() != null));
            addMetric(context.pluginMetrics(), "next-number", last + 1);
            System.out.print("printed by ");
            System.out.println("the task");
            System.err.println("an error of the task");
        }

        @Override public List<SourceRecord> poll() throws InterruptedException {
            LOG.debug("poll after {}", last);
            if (last >= Long.parseLong(config.get("limit"))) {
                Thread.sleep(20);
                return null;
            }
            Thread.sleep(Long.parseLong(config.getOrDefault("pause.ms", "0")));
            List<SourceRecord> records = config.containsKey("reuses.list") ? returned : new ArrayList<>();
            records.clear();
            do records.add(number(++last)); while (last % 10 != 0 && last < Long.parseLong(config.get("limit")));
            if (context.transactionContext() != null) {
                for (SourceRecord record : records) {
                    long digit = Long.parseLong((String) record.value()) % 10;
                    if (digit == 3) context.transactionContext().commitTransaction(record);
                    if (digit == 6) context.transactionContext().abortTransaction(record);
                }
                context.transactionContext().commitTransaction();
            }
            return records;
        }

        private SourceRecord number(long number) {
            return new SourceRecord(PART, Map.of("n", base + number), config.get("topic"), Schema.STRING_SCHEMA, String.valueOf(number));
        }

        @Override public void commitRecord(SourceRecord record, RecordMetadata metadata) {
            record(config, "record " + record.value() + (metadata == null ? "" : " at " + metadata.topic() + "-" + metadata.partition() + "@" + metadata.offset()));
        }

        @Override public void commit() {
            String ahead = config.containsKey("counts.returned") ? " of " + last : "";
            Map<String, Object> offset = context.offsetStorageReader().offset(PART);
            String event = offset == null ? "" : "commit after " + offset.get("n") + ahead;
            // Also called when nothing was committed since.
            if (!event.equals(lastCommit)) record(config, event);
            lastCommit = event;
        }

        @Override public void stop() {
            record(config, "task stop");
        }

        @Override public String version() {
            return "1";
        }
    }

    /** Does what the values of its records say, once for each record. */
    public static class Commands extends SinkConnector {
        private Map<String, String> config;

        @Override public void start(Map<String, String> given) {
            config = given;
        }

        @Override public Class<? extends Task> taskClass() {
            return CommandsTask.class;
        }

        @Override public List<Map<String, String>> taskConfigs(int max) {
            List<Map<String, String>> tasks = new ArrayList<>();
            for (int at = 0; at < max; at++) tasks.add(config);
            return tasks;
        }

        @Override public void stop() {}

        @Override public ConfigDef config() {
            return new ConfigDef();
        }

        @Override public boolean alterOffsets(Map<String, String> given, Map<TopicPartition, Long> offsets) {
            record(given, "alter " + new ArrayList<>(offsets.entrySet()));
            if (offsets.containsValue(0L)) throw new ConnectException("the first record is gone");
            return true;
        }

        @Override public String version() {
            return "1";
        }
    }

    public static class CommandsTask extends SinkTask {
        private Map<String, String> config;
        private final Set<String> done = new java.util.HashSet<>();
        private final Map<TopicPartition, Long> held = new HashMap<>();
        private TopicPartition paused;
        private int emptyPuts;

        @Override public void start(Map<String, String> given) {
            config = given;
        }

        @Override public void open(Collection<TopicPartition> partitions) {
            record(config, "open " + sorted(partitions) + " of " + sorted(context.assignment()));
        }

        @Override public void close(Collection<TopicPartition> partitions) {
            record(config, "close " + sorted(partitions));
        }

        @Override public void put(Collection<SinkRecord> records) {
            if (records.isEmpty() && paused != null && ++emptyPuts == 2) {
                record(config, "resume " + paused);
                context.resume(paused);
                paused = null;
            }
            for (SinkRecord one : records) execute(one);
        }

        private void execute(SinkRecord one) {
            TopicPartition partition = new TopicPartition(one.topic(), one.kafkaPartition());
            String[] command = ((String) one.value()).split(" ");
            record(config, "put " + one.value());
            if (!done.add(one.kafkaPartition() + "@" + one.kafkaOffset())) return;
            switch (command[0]) {
                case "pause" -> {
                    paused = partition;
                    context.pause(partition);
                }
                case "rewind" -> context.offset(partition, Long.parseLong(command[1]));
                case "rewind-to-null" -> context.offset(Collections.singletonMap(partition, null));
                case "retry" -> {
                    context.timeout(300);
                    record(config, "retry at " + System.currentTimeMillis());
                    throw new RetriableException("try again");
                }
                case "errant" -> context.errantRecordReporter().report(one, new IllegalArgumentException("bad value"));
                case "hold" -> held.put(partition, one.kafkaOffset());
                case "commit" -> context.requestCommit();
                case "release" -> held.clear();
                default -> {
                }
            }
        }

        @Override public Map<TopicPartition, OffsetAndMetadata> preCommit(Map<TopicPartition, OffsetAndMetadata> current) {
            Map<TopicPartition, OffsetAndMetadata> safe = new HashMap<>(current);
            held.forEach((partition, offset) -> safe.replace(partition, new OffsetAndMetadata(offset)));
            TreeMap<String, Long> offsets = new TreeMap<>();
            current.forEach((partition, offset) -> offsets.put(partition.toString(), offset.offset()));
            record(config, "preCommit " + offsets);
            return safe;
        }

        @Override public void stop() {
            record(config, "stop");
        }

        private static List<String> sorted(Collection<TopicPartition> partitions) {
            return partitions.stream().map(TopicPartition::toString).sorted().toList();
        }

        @Override public String version() {
            return "1";
        }
    }

    /** Returns `PREFIX PATH KEY` for each key but `missing`. */
    public static class Vault implements ConfigProvider {
        private String prefix;

        @Override public void configure(Map<String, ?> config) {
            prefix = (String) config.get("prefix");
            if (prefix == null) throw new ConnectException("the prefix is missing");
        }

        @Override public ConfigData get(String path) {
            return new ConfigData(Map.of());
        }

        @Override public ConfigData get(String path, Set<String> keys) {
            Map<String, String> values = new HashMap<>();
            for (String key : keys) if (!key.equals("missing")) values.put(key, prefix + path + key);
            return new ConfigData(values);
        }

        @Override public void close() {}
    }
}
