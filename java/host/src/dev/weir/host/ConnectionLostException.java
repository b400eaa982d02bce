package dev.weir.host;

import java.io.IOException;

/** The worker can no longer be reached: there is nobody to report to. */
final class ConnectionLostException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ConnectionLostException(IOException cause) {
        super("the connection to the worker is lost: " + cause.getMessage(), cause);
    }
}
