package dev.weir.host;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * What one connection of a worker is used for: calls to connectors and providers, or the life of one task. Its requests
 * are carried out one after the other in a thread of its own, because Connect never calls a task from two threads.
 */
final class Session implements Connection.Handler {
    /** Carries out one operation; what it returns is the response. */
    @FunctionalInterface
    interface Operation {
        Object run(FrameReader argument) throws Exception;
    }

    /** Is told of something, on the thread that reads the connection: returns at once. */
    @FunctionalInterface
    interface Listener {
        void hear(FrameReader argument);
    }

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int STOP_SECONDS = 5;
    /** How long an interrupted thread may take to end. */
    private static final int INTERRUPT_SECONDS = 1;

    private final Connection connection;
    private final ExecutorService work;
    private final Map<String, Operation> operations = new HashMap<>();
    private final Map<String, Listener> listeners = new HashMap<>();
    private final ChainOperations chain;
    /** The thread that carries out the requests; null before the first one. */
    private volatile Thread working;
    /** The CPU time of that thread when it began the request. */
    private volatile long requestCpuNanos;

    Session(Connection connection, PluginLocations locations, String name) {
        Plugins plugins = locations.own();
        this.connection = connection;
        this.work = Executors.newSingleThreadExecutor((task) -> working = daemon(task, name));
        new ConnectorOperations(plugins, connection).addTo(operations);
        chain = new ChainOperations(locations);
        chain.addTo(operations);
        chain.listenOn(listeners);
        SourceTaskOperations source = new SourceTaskOperations(plugins, connection, chain);
        source.addTo(operations);
        source.listenOn(listeners);
        SinkTaskOperations sink = new SinkTaskOperations(plugins, connection, chain);
        sink.addTo(operations);
        sink.listenOn(listeners);
    }

    /** Returns when the worker has closed the connection, with everything stopped that it had started. */
    void run() throws IOException, InterruptedException {
        try {
            connection.serve(this);
        } finally {
            chain.interrupt();
            work.execute(this::stopAll);
            work.shutdown();
            if (!work.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
                work.shutdownNow();
                if (!work.awaitTermination(INTERRUPT_SECONDS, TimeUnit.SECONDS)) HostLog.stuck();
            }
        }
    }

    @Override
    public void request(int id, String operation, FrameReader argument) {
        if (operation.equals("progress")) {
            // Not by the thread whose stack this is.
            connection.respond(id, progress());
            return;
        }
        Operation found = operations.get(operation);
        if (found == null) throw new ProtocolException("no operation is called '" + operation + "'");
        work.execute(() -> respond(id, found, argument));
    }

    /** What the request that is carried out does at the moment, one frame per line, and the CPU time that it has used. */
    private Map<String, Object> progress() {
        Thread thread = working;
        if (thread == null) return Map.of("stack", "", "cpuMs", 0L);
        StringJoiner lines = new StringJoiner("\n");
        for (StackTraceElement frame : thread.getStackTrace()) lines.add("    at " + frame);
        long cpuNanos = THREADS.getThreadCpuTime(thread.getId()) - requestCpuNanos;
        return Map.of("stack", lines.toString(), "cpuMs", TimeUnit.NANOSECONDS.toMillis(cpuNanos));
    }

    @Override
    public void event(String name, FrameReader argument) {
        Listener found = listeners.get(name);
        if (found == null) throw new ProtocolException("no event is called '" + name + "'");
        found.hear(argument);
    }

    /** An error of the virtual machine itself is the end of this process, which reports it by its exit. */
    private void respond(int id, Operation operation, FrameReader argument) {
        requestCpuNanos = THREADS.getCurrentThreadCpuTime();
        try {
            connection.respond(id, operation.run(argument));
        } catch (ConnectionLostException lost) {
            // Nobody waits for the response.
        } catch (VirtualMachineError error) {
            if (!(error instanceof StackOverflowError)) throw error;
            connection.fail(id, error);
        } catch (Throwable thrown) {
            connection.fail(id, thrown);
        }
    }

    private void stopAll() {
        for (String operation : new String[] {"source.stop", "sink.stop", "chain.close", "connector.stop"}) {
            try {
                operations.get(operation).run(new FrameReader(new byte[] {Tag.NULL}, (none) -> null));
            } catch (Throwable thrown) {
                HostLog.warn("a plugin did not stop cleanly", thrown);
            }
        }
    }

    static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }
}
