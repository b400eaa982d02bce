package dev.weir.host;

import dev.weir.host.JsonLoggerFactory.Level;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Writes log lines to the standard output of this process, each as a JSON object. */
final class LogLines {
    private static final int CHARACTERS_MAX = 50_000;

    /** The original standard output. `System.out` is replaced by `PrintedLines`. */
    private static final PrintStream OUTPUT = new PrintStream(
        new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)), true, StandardCharsets.UTF_8);

    private LogLines() {}

    /** @param source the JSON member for the origin of the line: `logger` or `stream` */
    static void write(Level level, String source, String name, String message, Throwable thrown) {
        StringBuilder line = new StringBuilder(200);
        line.append("{\"level\":\"").append(level.name().toLowerCase(Locale.ROOT)).append('"');
        append(line, source, name);
        String context = HostLog.context();
        if (context != null) append(line, "context", context);
        append(line, "message", String.valueOf(message));
        if (thrown != null) append(line, "trace", String.valueOf(Failures.describe(thrown).get("trace")));
        OUTPUT.println(line.append('}'));
    }

    private static void append(StringBuilder line, String member, String text) {
        line.append(",\"").append(member).append("\":\"");
        int length = Math.min(text.length(), CHARACTERS_MAX);
        for (int at = 0; at < length; at++) {
            char one = text.charAt(at);
            if (one == '"' || one == '\\') line.append('\\').append(one);
            else if (one < 0x20 || Character.isSurrogate(one)) line.append(String.format("\\u%04x", (int) one));
            else line.append(one);
        }
        line.append('"');
    }
}
