package dev.weir.host;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.provider.ConfigProvider;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.connect.connector.Connector;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.sink.SinkConnector;
import org.apache.kafka.connect.sink.SinkConnectorContext;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceConnectorContext;
import org.apache.kafka.connect.storage.OffsetStorageReader;

/** Operations on connectors themselves and on config providers: what a worker asks outside of tasks. */
final class ConnectorOperations {
    private final Plugins plugins;
    private final Connection connection;
    /** Null unless a connector was started on this connection. */
    private Connector started;
    private HostMetrics metrics;
    private final Map<List<Object>, ConfigProvider> providers = new HashMap<>();

    ConnectorOperations(Plugins plugins, Connection connection) {
        this.plugins = plugins;
        this.connection = connection;
    }

    void addTo(Map<String, Session.Operation> operations) {
        operations.put("describe", (argument) -> plugins.describe(new Argument(argument).list("classes")));
        operations.put("metrics", (argument) -> HostMetrics.read());
        operations.put("validate", (argument) -> validate(new Argument(argument)));
        operations.put("connector.start", (argument) -> start(new Argument(argument)));
        operations.put("connector.tasks", (argument) -> taskConfigs(new Argument(argument)));
        operations.put("connector.stop", (argument) -> stop());
        operations.put("connector.support", (argument) -> support(new Argument(argument)));
        operations.put("connector.alter-offsets", (argument) -> alterOffsets(new Argument(argument)));
        operations.put("provider.create", (argument) -> provider(new Argument(argument)) == null);
        operations.put("provider.read", (argument) -> readValues(new Argument(argument)));
    }

    private Object validate(Argument argument) throws Exception {
        PluginKind kind = PluginKind.of(argument.text("kind"));
        Map<String, String> config = configOf(argument);
        Object plugin = plugins.create(argument.text("class"), kind.type);
        Config validated = plugins.call(() -> plugin instanceof Connector connector
            ? connector.validate(config)
            : new Config(Plugins.configOf(plugin).validate(config)));
        if (validated == null) throw new IllegalStateException("validate() returned null");
        return ConfigDefinitions.describe(validated, plugins.call(() -> Plugins.configOf(plugin)));
    }

    /** Returns the configuration in a request. Log lines of this thread then name its connector, if it has a name. */
    private static Map<String, String> configOf(Argument argument) {
        Map<String, String> config = argument.strings("config");
        HostLog.enterConnector(config.get("name"));
        return config;
    }

    private Object start(Argument argument) throws Exception {
        if (started != null) throw new ProtocolException("the connection has a connector already");
        String name = argument.text("name");
        Map<String, String> config = argument.strings("config");
        HostLog.enterConnector(name);
        Connector connector = plugins.create(argument.text("class"), Connector.class);
        started = connector;
        metrics = HostMetrics.ofConnector(name);
        return plugins.call(() -> {
            connector.initialize(connector instanceof SinkConnector ? new SinkContext() : new SourceContext());
            connector.start(config);
            return null;
        });
    }

    private Object taskConfigs(Argument argument) throws Exception {
        if (started == null) throw new ProtocolException("no connector is started on this connection");
        Connector connector = started;
        int tasksMax = argument.number("tasksMax");
        return plugins.call(() -> {
            List<Map<String, String>> configs = connector.taskConfigs(tasksMax);
            if (configs == null) throw new ConnectException("taskConfigs() returned null");
            return Map.of("taskClass", connector.taskClass().getName(), "configs", configs);
        });
    }

    /** Stops what was started on this connection. */
    private Object stop() throws Exception {
        for (ConfigProvider provider : providers.values()) plugins.call(() -> {
            provider.close();
            return null;
        });
        providers.clear();
        Connector connector = started;
        started = null;
        if (connector == null) return null;
        try {
            return plugins.call(() -> {
                connector.stop();
                return null;
            });
        } finally {
            metrics.close();
        }
    }

    /** Whether a source writes exactly once with this configuration, or can end its transactions itself; null: unknown. */
    private Object support(Argument argument) throws Exception {
        Map<String, String> config = configOf(argument);
        SourceConnector connector = plugins.create(argument.text("class"), SourceConnector.class);
        Enum<?> support = switch (argument.text("feature")) {
            case "delivery" -> plugins.call(() -> connector.exactlyOnceSupport(config));
            case "transaction-boundaries" -> plugins.call(() -> connector.canDefineTransactionBoundaries(config));
            default -> throw new ProtocolException("no feature is called '" + argument.text("feature") + "'");
        };
        return support == null ? null : support.name().toLowerCase(Locale.ROOT);
    }

    private Object alterOffsets(Argument argument) throws Exception {
        Map<String, String> config = configOf(argument);
        Connector connector = plugins.create(argument.text("class"), Connector.class);
        Map<Map<String, ?>, Map<String, ?>> offsets = offsetsOf(argument.list("offsets"));
        try {
            boolean isAltered = plugins.call(() -> connector instanceof SinkConnector sink
                ? sink.alterOffsets(config, sinkOffsetsOf(offsets))
                : ((SourceConnector) connector).alterOffsets(config, offsets));
            return isAltered ? "altered" : "ignored";
        } catch (UnsupportedOperationException unsupported) {
            return "unsupported";
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<Map<String, ?>, Map<String, ?>> offsetsOf(List<Object> pairs) {
        Map<Map<String, ?>, Map<String, ?>> offsets = new LinkedHashMap<>();
        for (Object pair : pairs) {
            List<Object> both = (List<Object>) pair;
            offsets.put((Map<String, ?>) both.get(0), (Map<String, ?>) both.get(1));
        }
        return offsets;
    }

    private static Map<TopicPartition, Long> sinkOffsetsOf(Map<Map<String, ?>, Map<String, ?>> offsets) {
        Map<TopicPartition, Long> bySinkPartition = new LinkedHashMap<>();
        offsets.forEach((partition, offset) -> bySinkPartition.put(
            new TopicPartition((String) partition.get("kafka_topic"), ((Long) partition.get("kafka_partition")).intValue()),
            offset == null ? null : (Long) offset.get("kafka_offset")));
        return bySinkPartition;
    }

    private ConfigProvider provider(Argument argument) throws Exception {
        String className = argument.text("class");
        Map<String, String> config = argument.strings("config");
        List<Object> key = List.of(className, config);
        ConfigProvider known = providers.get(key);
        if (known != null) return known;
        ConfigProvider provider = plugins.create(className, ConfigProvider.class);
        plugins.call(() -> {
            provider.configure(config);
            return null;
        });
        providers.put(key, provider);
        return provider;
    }

    private Object readValues(Argument argument) throws Exception {
        ConfigProvider provider = provider(argument);
        String path = argument.text("path");
        Set<String> keys = new TreeSet<>();
        for (Object key : argument.list("keys")) keys.add((String) key);
        ConfigData data = plugins.call(() -> provider.get(path, keys));
        return data == null ? Map.of() : data.data();
    }

    private class SinkContext implements SinkConnectorContext {
        @Override
        public void requestTaskReconfiguration() {
            connection.event("connector.reconfigure", (body) -> body.writeValue(null));
        }

        @Override
        public void raiseError(Exception error) {
            connection.event("connector.error", (body) -> body.writeValue(Failures.describe(error)));
        }

        @Override
        public PluginMetrics pluginMetrics() {
            return metrics;
        }
    }

    private final class SourceContext extends SinkContext implements SourceConnectorContext {
        @Override
        public OffsetStorageReader offsetStorageReader() {
            return new RemoteOffsets(connection);
        }
    }
}
