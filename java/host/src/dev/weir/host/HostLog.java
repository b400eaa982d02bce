package dev.weir.host;

/** Log lines of the host itself. */
final class HostLog {
    private static final org.slf4j.Logger LOGGER = org.slf4j.LoggerFactory.getLogger("dev.weir.host");

    private HostLog() {}

    static void warn(String message, Throwable thrown) {
        LOGGER.warn(message, thrown);
    }

    static void info(String message) {
        LOGGER.info(message);
    }
}
