package dev.weir.host;

/** The other side broke the protocol: the connection cannot be used any more. */
final class ProtocolException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ProtocolException(String message) {
        super(message);
    }
}
