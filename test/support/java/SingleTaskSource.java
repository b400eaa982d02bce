package dev.weir.test;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.source.SourceConnector;

/** A source connector with one task, which receives the connector's configuration. */
public abstract class SingleTaskSource extends SourceConnector {
    private Map<String, String> config;

    @Override public void start(Map<String, String> given) {
        config = given;
    }

    @Override public List<Map<String, String>> taskConfigs(int max) {
        return List.of(config);
    }

    @Override public void stop() {}

    @Override public ConfigDef config() {
        return new ConfigDef();
    }

    @Override public String version() {
        return "1";
    }
}
