package dev.weir.host;

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

    static void info(String message) {
        LOGGER.info(message);
    }
}
