package dev.weir.host;

import dev.weir.host.JsonLoggerFactory.Level;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Captures what plugin code prints to `System.out` and `System.err`. Each line becomes a log line with the connector and task
 * of the thread that printed it.
 */
final class PrintedLines extends OutputStream {
    /** A longer line is split into several log lines. */
    private static final int BYTES_MAX = 50_000;

    private final String stream;
    /** The unfinished line of each thread. It is kept per thread, so that lines of several threads do not mix. */
    private final ThreadLocal<ByteArrayOutputStream> line = ThreadLocal.withInitial(ByteArrayOutputStream::new);

    private PrintedLines(String stream) {
        this.stream = stream;
    }

    static void capture() {
        System.setOut(new PrintStream(new PrintedLines("stdout"), false, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(new PrintedLines("stderr"), false, StandardCharsets.UTF_8));
    }

    @Override
    public void write(int value) {
        ByteArrayOutputStream printed = line.get();
        if (value != '\n') printed.write(value);
        if (value == '\n' || printed.size() >= BYTES_MAX) end(printed);
    }

    @Override
    public void write(byte[] bytes, int from, int length) {
        for (int at = from; at < from + length; at++) write(bytes[at]);
    }

    private void end(ByteArrayOutputStream printed) {
        String text = printed.toString(StandardCharsets.UTF_8).stripTrailing();
        printed.reset();
        if (!text.isEmpty()) LogLines.write(Level.INFO, "stream", stream, text, null);
    }
}
