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
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.locks.LockSupport;

/**
 * A host for the plugins of one location: {@code java … dev.weir.host.Main SOCKET LOCATION}. It serves a worker on a Unix
 * domain socket until the worker stops it with a line of its standard input, or is gone, which ends that input. Then it also
 * removes the directory of the socket, unless another host uses it. The first line of its standard input is the token
 * that each connection must present. Each further line sets the level of a logger; the first levels end with an empty
 * line.
 */
public final class Main {
    private static final int NOT_SERVED = 2;
    private static final long RETRY_NANOS = 1_000_000_000;
    /** The line with which a worker stops this host. */
    private static final String STOP = "stop";

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
            String line = readLevels(input);
            while (line != null && !line.equals(STOP)) line = readLevels(input);
            removeFiles(Path.of(args[0]), line == null);
        } catch (IOException error) {
            System.err.println(args[0] + ": " + error.getMessage());
            System.exit(NOT_SERVED);
        }
        // Threads of plugins may never end by themselves.
        Runtime.getRuntime().halt(0);
    }

    private static void accept(ServerSocketChannel server, PluginLocations locations, String token) {
        for (int number = 1; server.isOpen(); number++) {
            String name = "connection-" + number;
            try {
                SocketChannel channel = server.accept();
                Session.daemon(() -> serve(new Connection(channel, token), locations, name), name).start();
            } catch (IOException error) {
                // Such as too many open files. A worker waits until it is accepted.
                HostLog.warn("a connection could not be accepted", error);
                LockSupport.parkNanos(RETRY_NANOS);
            }
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

    /** Removes the socket and, if the worker is gone, the directory that the worker created for the sockets of its hosts. */
    private static void removeFiles(Path socket, boolean isWorkerGone) throws IOException {
        Files.deleteIfExists(socket);
        if (!isWorkerGone) return;
        try {
            Files.deleteIfExists(socket.getParent());
        } catch (DirectoryNotEmptyException another) {
            // Another host of the worker removes it.
        }
    }

    /** Sets levels until another line, which it returns: an empty one, or that which stops this host. Null at the end. */
    private static String readLevels(BufferedReader input) throws IOException {
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            int space = line.indexOf(' ');
            if (space < 0) return line;
            JsonLoggerFactory.setLevel(line.substring(space + 1), Level.valueOf(line.substring(0, space)));
        }
        return null;
    }
}
