package dev.weir.host;

import dev.weir.host.JsonLoggerFactory.Level;
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
 * its standard input is the token that each connection must present. Each further line sets the level of a logger; the
 * first levels end with an empty line.
 */
public final class Main {
    private static final int NOT_SERVED = 2;

    private Main() {}

    public static void main(String[] args) throws Exception {
        if (args.length != 2) {
            System.err.println("expected two arguments: the path of a socket and a plugin location");
            System.exit(NOT_SERVED);
        }
        PrintedLines.capture();
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            String token = input.readLine();
            if (token == null) throw new IOException("standard input has no token");
            readLevels(input);
            PluginLocations locations = new PluginLocations(args[1]);
            server.bind(UnixDomainSocketAddress.of(args[0]));
            Files.setPosixFilePermissions(Path.of(args[0]), PosixFilePermissions.fromString("rw-------"));
            Session.daemon(() -> accept(server, locations, token), "accept").start();
            HostLog.listening();
            // Further levels, until the worker closes standard input.
            while (readLevels(input)) continue;
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

    /** Sets levels until an empty line. False at the end of the input. */
    private static boolean readLevels(BufferedReader input) throws IOException {
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            if (line.isEmpty()) return true;
            int space = line.indexOf(' ');
            JsonLoggerFactory.setLevel(line.substring(space + 1), Level.valueOf(line.substring(0, space)));
        }
        return false;
    }
}
