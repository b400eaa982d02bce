package dev.weir.host;

import dev.weir.host.JsonLoggerFactory.Level;
import org.slf4j.MDC;

/** Log lines of the host itself. */
final class HostLog {
    private static final org.slf4j.Logger LOGGER = org.slf4j.LoggerFactory.getLogger("dev.weir.host");

    /** The MDC key that Kafka Connect uses, which plugins may read. */
    private static final String CONTEXT = "connector.context";

    private HostLog() {}

    /**
     * Sets a connector as the logging context of this thread and of the threads that it starts. Their log lines and printed
     * lines then name the connector. Does nothing if the name is null.
     */
    static void enterConnector(String name) {
        if (name != null) MDC.put(CONTEXT, "[" + name + "|worker] ");
    }

    /**
     * Sets a task as the logging context of this thread and of the threads that it starts.
     *
     * @param name CONNECTOR-TASK
     */
    static void enterTask(String name) {
        int end = name.lastIndexOf('-');
        MDC.put(CONTEXT, "[" + name.substring(0, end) + "|task-" + name.substring(end + 1) + "] ");
    }

    /** Returns the logging context of this thread in the format of Kafka Connect, such as `[my-source|task-0] `; null if it has none. */
    static String context() {
        return MDC.get(CONTEXT);
    }

    static void warn(String message, Throwable thrown) {
        LOGGER.warn(message, thrown);
    }

    /** Tells the worker that this host accepts connections. */
    static void listening() {
        signal(Level.INFO, "listening");
    }

    /** Tells the worker that plugin code does not return, so a thread of this JVM runs until the JVM ends. */
    static void stuck() {
        signal(Level.WARN, "plugin code does not return");
    }

    /** Writes a message that the worker looks for, whatever the levels of loggers are. */
    private static void signal(Level level, String message) {
        ((JsonLogger) LOGGER).write(level, message, null);
    }

    static void info(String message) {
        LOGGER.info(message);
    }
}
