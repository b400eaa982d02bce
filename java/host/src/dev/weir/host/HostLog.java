package dev.weir.host;

import dev.weir.host.JsonLoggerFactory.Level;
import org.slf4j.MDC;

/** Log lines of the host itself. */
final class HostLog {
    private static final org.slf4j.Logger LOGGER = org.slf4j.LoggerFactory.getLogger("dev.weir.host");

    /** As in Connect's log, where plugins may read it. */
    private static final String CONTEXT = "connector.context";

    private HostLog() {}

    /** Marks what this thread and those that it starts log with the name of a task or connector. */
    static void enter(String name) {
        MDC.put(CONTEXT, name);
    }

    /** The name that this thread's log lines carry; null for none. */
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
