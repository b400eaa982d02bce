package dev.weir.host;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.ILoggerFactory;
import org.slf4j.Logger;

/** The loggers of this process, and the level of each: that of the longest name set for it or for a package above it. */
public final class JsonLoggerFactory implements ILoggerFactory {
    /** In the order of severity. */
    enum Level { TRACE, DEBUG, INFO, WARN, ERROR, OFF }

    private static final Map<String, Level> LEVELS = new ConcurrentHashMap<>();
    private final Map<String, JsonLogger> loggers = new ConcurrentHashMap<>();

    @Override
    public Logger getLogger(String name) {
        return loggers.computeIfAbsent(name, JsonLogger::new);
    }

    static void setLevel(String name, Level level) {
        LEVELS.put(name, level);
    }

    static Level levelOf(String name) {
        for (String at = name;; at = at.substring(0, at.lastIndexOf('.'))) {
            Level level = LEVELS.get(at);
            if (level != null) return level;
            if (at.lastIndexOf('.') < 0) return LEVELS.getOrDefault("root", Level.INFO);
        }
    }
}
