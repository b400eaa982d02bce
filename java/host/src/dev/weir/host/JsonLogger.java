package dev.weir.host;

import dev.weir.host.JsonLoggerFactory.Level;
import org.slf4j.helpers.FormattingTuple;
import org.slf4j.helpers.MarkerIgnoringBase;
import org.slf4j.helpers.MessageFormatter;

/** Writes each event as a log line, with the task or connector that it belongs to. */
final class JsonLogger extends MarkerIgnoringBase {
    private static final long serialVersionUID = 1L;

    JsonLogger(String name) {
        this.name = name;
    }

    private boolean isEnabled(Level level) {
        return JsonLoggerFactory.levelOf(name).compareTo(level) <= 0;
    }

    private void log(Level level, String format, Object... arguments) {
        if (!isEnabled(level)) return;
        FormattingTuple event = MessageFormatter.arrayFormat(format, arguments);
        write(level, event.getMessage(), event.getThrowable());
    }

    private void log(Level level, String message, Throwable thrown) {
        if (isEnabled(level)) write(level, message, thrown);
    }

    /** Writes an event regardless of the level of this logger. */
    void write(Level level, String message, Throwable thrown) {
        LogLines.write(level, "logger", name, message, thrown);
    }

    @Override public boolean isTraceEnabled() { return isEnabled(Level.TRACE); }
    @Override public void trace(String message) { log(Level.TRACE, message, (Throwable) null); }
    @Override public void trace(String format, Object one) { log(Level.TRACE, format, new Object[] {one}); }
    @Override public void trace(String format, Object one, Object two) { log(Level.TRACE, format, new Object[] {one, two}); }
    @Override public void trace(String format, Object... all) { log(Level.TRACE, format, all); }
    @Override public void trace(String message, Throwable thrown) { log(Level.TRACE, message, thrown); }
    @Override public boolean isDebugEnabled() { return isEnabled(Level.DEBUG); }
    @Override public void debug(String message) { log(Level.DEBUG, message, (Throwable) null); }
    @Override public void debug(String format, Object one) { log(Level.DEBUG, format, new Object[] {one}); }
    @Override public void debug(String format, Object one, Object two) { log(Level.DEBUG, format, new Object[] {one, two}); }
    @Override public void debug(String format, Object... all) { log(Level.DEBUG, format, all); }
    @Override public void debug(String message, Throwable thrown) { log(Level.DEBUG, message, thrown); }
    @Override public boolean isInfoEnabled() { return isEnabled(Level.INFO); }
    @Override public void info(String message) { log(Level.INFO, message, (Throwable) null); }
    @Override public void info(String format, Object one) { log(Level.INFO, format, new Object[] {one}); }
    @Override public void info(String format, Object one, Object two) { log(Level.INFO, format, new Object[] {one, two}); }
    @Override public void info(String format, Object... all) { log(Level.INFO, format, all); }
    @Override public void info(String message, Throwable thrown) { log(Level.INFO, message, thrown); }
    @Override public boolean isWarnEnabled() { return isEnabled(Level.WARN); }
    @Override public void warn(String message) { log(Level.WARN, message, (Throwable) null); }
    @Override public void warn(String format, Object one) { log(Level.WARN, format, new Object[] {one}); }
    @Override public void warn(String format, Object one, Object two) { log(Level.WARN, format, new Object[] {one, two}); }
    @Override public void warn(String format, Object... all) { log(Level.WARN, format, all); }
    @Override public void warn(String message, Throwable thrown) { log(Level.WARN, message, thrown); }
    @Override public boolean isErrorEnabled() { return isEnabled(Level.ERROR); }
    @Override public void error(String message) { log(Level.ERROR, message, (Throwable) null); }
    @Override public void error(String format, Object one) { log(Level.ERROR, format, new Object[] {one}); }
    @Override public void error(String format, Object one, Object two) { log(Level.ERROR, format, new Object[] {one, two}); }
    @Override public void error(String format, Object... all) { log(Level.ERROR, format, all); }
    @Override public void error(String message, Throwable thrown) { log(Level.ERROR, message, thrown); }
}
