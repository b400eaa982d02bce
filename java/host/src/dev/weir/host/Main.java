package dev.weir.host;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * A host for the plugins of one location: {@code java … dev.weir.host.Main SOCKET LOCATION}. It serves a worker on a Unix
 * domain socket until its standard input ends, which is when the worker has stopped it or is gone.
 */
public final class Main {
    private static final int NOT_SERVED = 2;

    private Main() {}

    public static void main(String[] args) throws Exception {
        if (args.length != 2) {
            System.err.println("expected two arguments: the path of a socket and a plugin location");
            System.exit(NOT_SERVED);
        }
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(args[0]));
            Plugins plugins = new Plugins(PluginLocation.open(Path.of(args[1])));
            Session.daemon(() -> accept(server, plugins), "accept").start();
            HostLog.info("listening");
            awaitEnd();
        } catch (IOException error) {
            System.err.println(args[0] + ": " + error.getMessage());
            System.exit(NOT_SERVED);
        }
        // Threads of plugins may never end by themselves.
        Runtime.getRuntime().halt(0);
    }

    private static void accept(ServerSocketChannel server, Plugins plugins) {
        try {
            for (int number = 1;; number++) {
                SocketChannel channel = server.accept();
                String name = "connection-" + number;
                Session.daemon(() -> serve(channel, plugins, name), name).start();
            }
        } catch (IOException closed) {
            HostLog.info("no more connections are accepted");
        }
    }

    private static void serve(SocketChannel channel, Plugins plugins, String name) {
        try (Connection connection = new Connection(channel)) {
            new Session(connection, plugins, name + "-work").run();
        } catch (IOException | RuntimeException error) {
            HostLog.warn("a connection failed", error);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {
            // Nothing is sent on it.
        }
    }
}
