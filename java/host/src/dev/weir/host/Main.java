package dev.weir.host;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * A host for the plugins of one location: {@code java … dev.weir.host.Main SOCKET LOCATION}. It serves a worker on a Unix
 * domain socket until its standard input ends, which is when the worker has stopped it or is gone. The first line of
 * its standard input is the token that each connection must present.
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
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            String token = input.readLine();
            if (token == null) throw new IOException("standard input has no token");
            PluginLocations locations = new PluginLocations(args[1]);
            server.bind(UnixDomainSocketAddress.of(args[0]));
            Files.setPosixFilePermissions(Path.of(args[0]), PosixFilePermissions.fromString("rw-------"));
            Session.daemon(() -> accept(server, locations, token), "accept").start();
            HostLog.info("listening");
            awaitEnd(input);
        } catch (IOException error) {
            System.err.println(args[0] + ": " + error.getMessage());
            System.exit(NOT_SERVED);
        }
        // Threads of plugins may never end by themselves.
        Runtime.getRuntime().halt(0);
    }

    private static void accept(ServerSocketChannel server, PluginLocations locations, String token) {
        try {
            for (int number = 1;; number++) {
                SocketChannel channel = server.accept();
                String name = "connection-" + number;
                Session.daemon(() -> serve(new Connection(channel, token), locations, name), name).start();
            }
        } catch (IOException closed) {
            HostLog.info("no more connections are accepted");
        }
    }

    private static void serve(Connection opened, PluginLocations locations, String name) {
        try (Connection connection = opened) {
            new Session(connection, locations, name + "-work").run();
        } catch (IOException | RuntimeException error) {
            HostLog.warn("a connection failed", error);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void awaitEnd(BufferedReader input) throws IOException {
        while (input.read() >= 0) {
            // Nothing more is sent on it.
        }
    }
}
