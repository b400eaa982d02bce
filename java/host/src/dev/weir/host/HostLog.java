package dev.weir.host;

import dev.weir.host.JsonLoggerFactory.Level;
import org.slf4j.MDC;

/** Log lines of the host itself. */
final class HostLog {
    private static final org.slf4j.Logger LOGGER = org.slf4j.LoggerFactory.getLogger("dev.weir.host");

    /** The name that it has in Connect, where plugins may read it. */
    private static final String CONTEXT = "connector.context";

    private HostLog() {}

    /** Marks what this thread and those that it starts log and print as that of a connector. Nothing to do for null. */
    static void enterConnector(String name) {
        if (name != null) MDC.put(CONTEXT, "[" + name + "|worker] ");
    }

    /**
     * Marks what this thread and those that it starts log and print as that of a task.
     *
     * @param name CONNECTOR-TASK
     */
    static void enterTask(String name) {
        int end = name.lastIndexOf('-');
        MDC.put(CONTEXT, "[" + name.substring(0, end) + "|task-" + name.substring(end + 1) + "] ");
    }

    /** The connector or task that this thread's log lines belong to, as Connect writes it; null for none. */
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
