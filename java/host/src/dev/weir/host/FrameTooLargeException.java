package dev.weir.host;

/** Thrown when data to be sent does not fit into one frame. */
final class FrameTooLargeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    FrameTooLargeException() {
        super("at most " + Connection.FRAME_BYTES_MAX + " bytes can be sent from the JVM to the worker at once");
    }
}
