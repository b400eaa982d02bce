package dev.weir.host;

/** What is to be sent at once has more bytes than a frame may have. */
final class FrameTooLargeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    FrameTooLargeException() {
        super("at most " + Connection.FRAME_BYTES_MAX + " bytes can be sent from the JVM to the worker at once");
    }
}
