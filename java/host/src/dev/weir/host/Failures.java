package dev.weir.host;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.RetriableException;

/** What plugin code threw, as data. */
final class Failures {
    private static final int TRACE_CHARACTERS_MAX = 50_000;
    private static final int MESSAGE_CHARACTERS_MAX = 10_000;

    private Failures() {}

    static Map<String, Object> describe(Throwable thrown) {
        Map<String, Object> failure = new LinkedHashMap<>();
        failure.put("class", thrown.getClass().getName());
        failure.put("message", cut(messageOf(thrown), MESSAGE_CHARACTERS_MAX));
        failure.put("trace", cut(traceOf(thrown), TRACE_CHARACTERS_MAX));
        failure.put("retriable", thrown instanceof RetriableException
            || thrown instanceof org.apache.kafka.common.errors.RetriableException);
        return failure;
    }

    static ConnectException toException(Map<String, Object> failure) {
        return new ConnectException(String.valueOf(failure.get("message")));
    }

    /** `getMessage` is the plugin's code. */
    private static String messageOf(Throwable thrown) {
        try {
            String message = thrown.getMessage();
            return message == null ? thrown.getClass().getName() : message;
        } catch (RuntimeException | StackOverflowError error) {
            return thrown.getClass().getName();
        }
    }

    private static String traceOf(Throwable thrown) {
        try {
            StringWriter text = new StringWriter();
            thrown.printStackTrace(new PrintWriter(text));
            return text.toString();
        } catch (RuntimeException | StackOverflowError error) {
            return thrown.getClass().getName();
        }
    }

    private static String cut(String text, int charactersMax) {
        return text.length() <= charactersMax ? text : text.substring(0, charactersMax) + "…";
    }
}
