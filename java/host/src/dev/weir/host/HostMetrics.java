package dev.weir.host;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.MetricValueProvider;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.utils.Time;

/** Metrics that plugins register, for the worker to report with its own. */
final class HostMetrics implements PluginMetrics {
    private static final Metrics METRICS = new Metrics(new MetricConfig(), List.of(), Time.SYSTEM, true);
    private static final String GROUP = "plugins";

    private final String owner;

    private HostMetrics(String owner) {
        this.owner = owner;
    }

    static PluginMetrics of(String owner) {
        return new HostMetrics(owner);
    }

    /** One object for each metric of a number: its name, description, tags and value. */
    static List<Map<String, Object>> read() {
        List<Map<String, Object>> all = new ArrayList<>();
        for (KafkaMetric metric : METRICS.metrics().values()) {
            MetricName name = metric.metricName();
            if (!name.group().equals(GROUP) || !(metric.metricValue() instanceof Number number)) continue;
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", name.name());
            one.put("description", name.description());
            one.put("tags", name.tags());
            one.put("value", number.doubleValue());
            all.add(one);
        }
        return all;
    }

    @Override
    public MetricName metricName(String name, String description, LinkedHashMap<String, String> tags) {
        Map<String, String> all = new HashMap<>(tags);
        all.put("owner", owner);
        return METRICS.metricName(name, GROUP, description, all);
    }

    @Override
    public void addMetric(MetricName name, MetricValueProvider<?> provider) {
        METRICS.addMetric(name, provider);
    }

    @Override
    public void removeMetric(MetricName name) {
        METRICS.removeMetric(name);
    }

    @Override
    public Sensor addSensor(String name) {
        return METRICS.sensor(owner + "." + name);
    }

    @Override
    public void removeSensor(String name) {
        METRICS.removeSensor(owner + "." + name);
    }
}
