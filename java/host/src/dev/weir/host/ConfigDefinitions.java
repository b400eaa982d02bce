package dev.weir.host;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigValue;

/** Configuration definitions and the results of validations, as data. */
final class ConfigDefinitions {
    private ConfigDefinitions() {}

    static List<Map<String, Object>> describe(ConfigDef definition) {
        List<Map<String, Object>> described = new ArrayList<>();
        for (ConfigDef.ConfigKey key : definition.configKeys().values()) {
            if (key.internalConfig) continue;
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", key.name);
            one.put("type", key.type.name());
            one.put("required", !key.hasDefault());
            one.put("defaultValue", key.hasDefault() ? ConfigDef.convertToString(key.defaultValue, key.type) : null);
            one.put("importance", key.importance.name());
            one.put("documentation", key.documentation);
            one.put("group", key.group);
            one.put("order", key.orderInGroup);
            one.put("width", key.width.name());
            one.put("displayName", key.displayName);
            one.put("dependents", key.dependents);
            described.add(one);
        }
        return described;
    }

    /** @param definition gives the types of the values */
    static List<Map<String, Object>> describe(Config config, ConfigDef definition) {
        List<Map<String, Object>> described = new ArrayList<>();
        for (ConfigValue value : config.configValues()) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", value.name());
            one.put("value", textOf(value, definition));
            one.put("recommendedValues", value.recommendedValues().stream().map(String::valueOf).toList());
            one.put("errors", value.errorMessages());
            one.put("visible", value.visible());
            described.add(one);
        }
        return described;
    }

    private static String textOf(ConfigValue value, ConfigDef definition) {
        ConfigDef.ConfigKey key = definition.configKeys().get(value.name());
        return ConfigDef.convertToString(value.value(), key == null ? null : key.type);
    }
}
