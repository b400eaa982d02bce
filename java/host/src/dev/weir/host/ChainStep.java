package dev.weir.host;

import java.util.Locale;
import java.util.Map;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.ConverterConfig;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** One configured plugin of a chain. */
final class ChainStep {
    private interface Application {
        /** False when the record is dropped. */
        boolean apply(ChainRecord record) throws Exception;
    }

    private final Plugins plugins;
    private final AutoCloseable plugin;
    private final Application application;
    final Role role;

    enum Role {
        PREDICATE, TRANSFORMATION, HEADER_CONVERTER, KEY_CONVERTER, VALUE_CONVERTER;

        static Role of(String label) {
            for (Role role : values()) if (role.name().toLowerCase(Locale.ROOT).equals(label)) return role;
            throw new ProtocolException("no role of a step is called '" + label + "'");
        }
    }

    private ChainStep(Role role, Plugins plugins, AutoCloseable plugin, Application application) {
        this.role = role;
        this.plugins = plugins;
        this.plugin = plugin;
        this.application = application;
    }

    /** Creates and configures the plugin, as Connect does. */
    static ChainStep create(PluginLocations locations, Argument step, boolean isSink) throws Exception {
        Role role = Role.of(step.text("role"));
        Plugins plugins = locations.of(step.text("location"));
        String className = step.text("class");
        Map<String, String> config = step.strings("config");
        switch (role) {
            case PREDICATE: {
                Predicate<?> predicate = plugins.create(className, Predicate.class);
                plugins.run(() -> predicate.configure(config));
                return new ChainStep(role, plugins, predicate, selection(predicate, step.flag("isNegated")));
            }
            case TRANSFORMATION: {
                Transformation<?> transformation = plugins.create(className, Transformation.class);
                plugins.run(() -> transformation.configure(config));
                return new ChainStep(role, plugins, transformation, change(transformation, step.flag("isConditional")));
            }
            case HEADER_CONVERTER: {
                config.put(ConverterConfig.TYPE_CONFIG, "header");
                HeaderConverter converter = plugins.create(className, HeaderConverter.class);
                plugins.run(() -> converter.configure(config));
                return new ChainStep(role, plugins, converter, headerConversion(converter, isSink));
            }
            default: {
                boolean isKey = role == Role.KEY_CONVERTER;
                Converter converter = plugins.create(className, Converter.class);
                plugins.run(() -> converter.configure(config, isKey));
                return new ChainStep(role, plugins, converter, conversion(converter, isKey, isSink));
            }
        }
    }

    /** False when the record is dropped. */
    boolean apply(ChainRecord record) throws Exception {
        return plugins.call(() -> application.apply(record));
    }

    void close() throws Exception {
        plugins.run(plugin::close);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Application selection(Predicate predicate, boolean isNegated) {
        return (record) -> {
            record.isSelected = isNegated ^ predicate.test(record.toConnectRecord());
            return true;
        };
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Application change(Transformation transformation, boolean isConditional) {
        return (record) -> {
            if (isConditional && !record.isSelected) return true;
            ConnectRecord<?> changed = transformation.apply(record.toConnectRecord());
            if (changed == null) return false;
            record.transformed(changed);
            return true;
        };
    }

    private static Application headerConversion(HeaderConverter converter, boolean isSink) {
        return (record) -> {
            if (isSink) record.headersToConnect(converter);
            else record.headersFromConnect(converter);
            return true;
        };
    }

    private static Application conversion(Converter converter, boolean isKey, boolean isSink) {
        return (record) -> {
            if (isSink) record.toConnect(converter, isKey);
            else record.fromConnect(converter, isKey);
            return true;
        };
    }
}
