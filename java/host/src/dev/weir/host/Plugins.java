package dev.weir.host;

import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.components.Versioned;
import org.apache.kafka.connect.connector.Connector;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** The plugins of one location: creates them, and describes them to the worker. */
final class Plugins {
    private final PluginLocation location;

    Plugins(PluginLocation location) {
        this.location = location;
    }

    ClassLoader loader() {
        return location.loader();
    }

    /** Runs plugin code with the class loader of the plugin as the one of its thread. */
    <T> T call(Callable<T> code) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(location.loader());
        try {
            return code.call();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    interface Action {
        void run() throws Exception;
    }

    /** Like `call`, for code without a result. */
    void run(Action code) throws Exception {
        call(() -> {
            code.run();
            return null;
        });
    }

    <T> T create(String className, Class<T> type) throws Exception {
        return call(() -> {
            try {
                Class<?> found = Class.forName(className, true, location.loader());
                return type.cast(found.getDeclaredConstructor().newInstance());
            } catch (ClassCastException other) {
                throw new ConnectException(className + " is not a " + type.getName(), other);
            } catch (InvocationTargetException | ExceptionInInitializerError error) {
                throw new ConnectException("Failed to create " + className + ": " + error.getCause(), error.getCause());
            } catch (UnsupportedClassVersionError error) {
                throw new ConnectException(className + " is compiled for a newer Java than "
                    + Runtime.version().feature() + ": " + error.getMessage(), error);
            } catch (ReflectiveOperationException | LinkageError error) {
                throw new ConnectException("Failed to create " + className + ": " + error, error);
            }
        });
    }

    /** The task of a connector. Adds its class to the configuration, as Connect does. */
    <T> T createTask(String connectorClass, Map<String, String> config, Class<T> type) throws Exception {
        Connector connector = create(connectorClass, Connector.class);
        Class<?> taskClass = call(connector::taskClass);
        if (taskClass == null) throw new ConnectException(connectorClass + ": taskClass() returned null");
        config.put("task.class", taskClass.getName());
        return create(taskClass.getName(), type);
    }

    /**
     * Describes each plugin that can be created, and reports a fault for each plugin that cannot be created.
     *
     * @param classes pairs of a kind and a class name, as the worker found them in the jars
     */
    Map<String, Object> describe(List<Object> classes) {
        List<Map<String, Object>> faults = new ArrayList<>();
        List<Map<String, Object>> plugins = new ArrayList<>();
        for (Object one : classes) {
            List<?> pair = (List<?>) one;
            String name = (String) pair.get(1);
            try {
                plugins.add(describe(PluginKind.of((String) pair.get(0)), name));
            } catch (Exception | LinkageError | AssertionError | StackOverflowError error) {
                String reason = name + ": " + Failures.describe(error).get("message");
                faults.add(Map.of("reason", reason, "isLasting", isCausedByMissingCode(error)));
            }
        }
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("plugins", plugins);
        described.put("faults", faults);
        return described;
    }

    /**
     * Whether an error is caused by a class, method or field that is missing in the files of the plugin location and of this
     * host. Such an error recurs until the files change. Other errors may be temporary: those of a Java runtime that is too
     * old, and those that a constructor throws because of its environment.
     */
    private static boolean isCausedByMissingCode(Throwable error) {
        for (Throwable at = error; at != null; at = at.getCause()) {
            if (at instanceof NoClassDefFoundError || at instanceof IncompatibleClassChangeError) return true;
            if (at instanceof ClassNotFoundException || at instanceof NoSuchMethodException) return true;
        }
        return false;
    }

    private Map<String, Object> describe(PluginKind kind, String className) throws Exception {
        Object plugin = create(className, kind.type);
        return call(() -> {
            Map<String, Object> described = new LinkedHashMap<>();
            described.put("kind", kind.label);
            described.put("class", className);
            described.put("version", versionOf(plugin));
            described.put("definitions", ConfigDefinitions.describe(configOf(plugin)));
            return described;
        });
    }

    private static String versionOf(Object plugin) {
        String version = plugin instanceof Versioned versioned ? versioned.version() : null;
        return version == null || version.isEmpty() || version.equals("undefined")
            ? PluginLocation.implementationVersion(plugin.getClass())
            : version;
    }

    static ConfigDef configOf(Object plugin) {
        ConfigDef config = null;
        if (plugin instanceof Connector connector) config = connector.config();
        else if (plugin instanceof Converter converter) config = converter.config();
        else if (plugin instanceof HeaderConverter converter) config = converter.config();
        else if (plugin instanceof Transformation<?> transformation) config = transformation.config();
        else if (plugin instanceof Predicate<?> predicate) config = predicate.config();
        return config == null ? new ConfigDef() : config;
    }
}
