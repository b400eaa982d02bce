package dev.weir.host;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.MetricValueProvider;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.utils.Time;

/**
 * The metrics that one plugin registers, for the worker to report with its own. Their tags say which connector and task
 * they belong to, as in Connect. They are removed when the plugin is stopped.
 */
final class HostMetrics implements PluginMetrics {
    private static final Metrics METRICS = new Metrics(new MetricConfig(), List.of(), Time.SYSTEM, true);
    private static final String GROUP = "plugins";
    /** Bounds what a worker reads at a time. */
    private static final int METRICS_MAX = 10_000;

    private final Map<String, String> owner;
    private final Set<MetricName> metrics = new HashSet<>();
    private final Set<String> sensors = new HashSet<>();

    private HostMetrics(Map<String, String> owner) {
        this.owner = owner;
    }

    static HostMetrics ofConnector(String connector) {
        return new HostMetrics(Map.of("connector", connector));
    }

    /** @param name CONNECTOR-TASK */
    static HostMetrics ofTask(String name) {
        int end = name.lastIndexOf('-');
        Map<String, String> owner = new LinkedHashMap<>();
        owner.put("connector", name.substring(0, end));
        owner.put("task", name.substring(end + 1));
        return new HostMetrics(owner);
    }

    /** One object for each metric of a number: its name, description, tags and value. */
    static List<Map<String, Object>> read() {
        List<Map<String, Object>> all = new ArrayList<>();
        for (KafkaMetric metric : METRICS.metrics().values()) {
            if (all.size() == METRICS_MAX) break;
            Map<String, Object> described = describe(metric);
            if (described != null) all.add(described);
        }
        return all;
    }

    /** Null for a metric that is not a number, or that cannot be read. */
    private static Map<String, Object> describe(KafkaMetric metric) {
        MetricName name = metric.metricName();
        if (!name.group().equals(GROUP)) return null;
        try {
            if (!(metric.metricValue() instanceof Number number)) return null;
            Map<String, Object> described = new LinkedHashMap<>();
            described.put("name", name.name());
            described.put("description", name.description());
            described.put("tags", name.tags());
            described.put("value", number.doubleValue());
            return described;
        } catch (RuntimeException unreadable) {
            HostLog.warn("the metric " + name.name() + " of a plugin cannot be read", unreadable);
            return null;
        }
    }

    @Override
    public MetricName metricName(String name, String description, LinkedHashMap<String, String> tags) {
        for (String tag : tags.keySet()) {
            if (owner.containsKey(tag)) {
                throw new IllegalArgumentException("Cannot use " + tag + " as a tag name: it is one of the plugin's tags");
            }
        }
        Map<String, String> all = new LinkedHashMap<>(owner);
        all.putAll(tags);
        return METRICS.metricName(name, GROUP, description, all);
    }

    @Override
    public synchronized void addMetric(MetricName name, MetricValueProvider<?> provider) {
        METRICS.addMetric(name, provider);
        metrics.add(name);
    }

    @Override
    public synchronized void removeMetric(MetricName name) {
        if (!metrics.remove(name)) {
            throw new IllegalArgumentException("Unknown metric " + name + ": this plugin has not added it");
        }
        METRICS.removeMetric(name);
    }

    @Override
    public synchronized Sensor addSensor(String name) {
        String own = ownSensor(name);
        if (!sensors.add(own)) throw new IllegalArgumentException("Sensor " + name + " already exists");
        return METRICS.sensor(own);
    }

    @Override
    public synchronized void removeSensor(String name) {
        String own = ownSensor(name);
        if (!sensors.remove(own)) {
            throw new IllegalArgumentException("Unknown sensor " + name + ": this plugin has not added it");
        }
        METRICS.removeSensor(own);
    }

    /** Removes what the plugin has not removed itself. */
    synchronized void close() {
        metrics.forEach(METRICS::removeMetric);
        sensors.forEach(METRICS::removeSensor);
        metrics.clear();
        sensors.clear();
    }

    private String ownSensor(String name) {
        return owner + "." + name;
    }
}
