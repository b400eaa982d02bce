package dev.weir.host;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/**
 * The life of one source task. The host polls on its own and sends each batch as an event, as long as the worker allows
 * bytes; the worker reports what of a batch is stored.
 */
final class SourceTaskOperations {
    /** How long `poll` may take to return by itself before `stop` is called while it runs. */
    private static final int POLL_END_MS = 1_000;
    /** The longest wait for running calls of `commitRecord` and `commit`. After it, `stop` is called while they still run. */
    private static final int COMMIT_END_MS = 400;
    private static final int STOP_MS = 3_000;
    private static final int RETRY_MS = 100;

    private final Plugins plugins;
    private final Connection connection;
    private final ChainOperations chains;
    private final Object lock = new Object();
    /** Bytes that may still be sent. Guarded by `lock`. */
    private long credit;
    private boolean isPaused;
    private boolean isStopping;
    /** Calls that the polling thread executes before the next `poll`. Guarded by `lock`. */
    private final Queue<Runnable> callsBeforePoll = new ArrayDeque<>();
    private SourceTask task;
    private Thread polling;
    private SourceCommits commits;
    /** Calls `commitRecord` and `commit`. Null with exactly-once delivery, where the polling thread calls them. */
    private ExecutorService commitThread;
    private HostMetrics metrics;

    SourceTaskOperations(Plugins plugins, Connection connection, ChainOperations chains) {
        this.plugins = plugins;
        this.connection = connection;
        this.chains = chains;
    }

    void addTo(Map<String, Session.Operation> operations) {
        operations.put("source.start", (argument) -> start(new Argument(argument)));
        operations.put("source.stop", (argument) -> stop());
    }

    void listenOn(Map<String, Session.Listener> listeners) {
        listeners.put("source.credit", (argument) -> change(() -> credit += (Long) argument.readValue()));
        listeners.put("source.pause", (argument) -> change(() -> isPaused = true));
        listeners.put("source.resume", (argument) -> change(() -> isPaused = false));
        listeners.put("source.stored", (argument) -> commits.stored(argument));
        listeners.put("source.committed", (argument) -> commits.committed());
    }

    private Object start(Argument argument) throws Exception {
        if (task != null) throw new ProtocolException("the connection has a task already");
        Map<String, String> config = argument.strings("config");
        String name = argument.text("name");
        HostLog.enterTask(name);
        SourceChain chain = new SourceChain(chains.openBeside(argument));
        SourceTask created = plugins.createTask(argument.text("class"), config, SourceTask.class);
        SourceTransactions transactions = argument.flag("definesTransactions") ? new SourceTransactions() : null;
        task = created;
        commits = argument.flag("isExactlyOnce") ? commitsBetweenPolls(created, transactions) : commitsBesidePolls(created, name);
        metrics = HostMetrics.ofTask(name);
        plugins.call(() -> {
            created.initialize(new HostSourceContext(config, new RemoteOffsets(connection), transactions, metrics));
            created.start(config);
            return null;
        });
        polling = Session.daemon(() -> poll(transactions, chain), name);
        polling.setContextClassLoader(plugins.loader());
        polling.start();
        return null;
    }

    /**
     * As in Kafka Connect, with exactly-once delivery the polling thread also calls `commit`, because `commit` may confirm
     * everything that the task has returned. If the task defines its transactions, one batch can contain several of them, and
     * `commit` is called for each.
     */
    private SourceCommits commitsBetweenPolls(SourceTask created, SourceTransactions transactions) {
        return new SourceCommits(plugins, created, (call) -> change(() -> callsBeforePoll.add(call)), transactions == null);
    }

    private SourceCommits commitsBesidePolls(SourceTask created, String name) {
        ThreadFactory threads = (calls) -> Session.daemon(() -> {
            HostLog.enterTask(name);
            calls.run();
        }, name + "-commit");
        // The worker may report stored records while the task stops, which are discarded then.
        commitThread = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads,
            new ThreadPoolExecutor.DiscardPolicy());
        return new SourceCommits(plugins, created, commitThread, false);
    }

    /**
     * Calls `stop` of the task after its last `poll`, `commitRecord` and `commit` have returned, or when they have not returned
     * in time.
     */
    private Object stop() throws Exception {
        if (task == null) return null;
        change(() -> isStopping = true);
        chains.interrupt();
        if (polling != null) polling.join(POLL_END_MS);
        SourceTask stopping = task;
        task = null;
        if (commitThread != null) {
            commitThread.shutdown();
            commitThread.awaitTermination(COMMIT_END_MS, TimeUnit.MILLISECONDS);
        }
        try {
            plugins.call(() -> {
                stopping.stop();
                return null;
            });
        } finally {
            metrics.close();
            if (polling != null) polling.join(STOP_MS);
        }
        if (polling != null && polling.isAlive()) HostLog.stuck();
        return null;
    }

    private void poll(SourceTransactions transactions, SourceChain chain) {
        try {
            SourceTask polled = task;
            SourceBatchSender sender = new SourceBatchSender(connection, chain);
            while (awaitTurn()) {
                List<SourceRecord> records = pollOnce(polled);
                // As in Connect, a batch without records can end the transaction.
                if (records.isEmpty() && (transactions == null || !transactions.hasBoundary())) continue;
                send(records, chain.apply(records), sender, transactions);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (ConnectionLostException lost) {
            HostLog.info("the worker is gone: a source task ends");
        } catch (VirtualMachineError error) {
            if (!(error instanceof StackOverflowError)) throw error;
            fail(error);
        } catch (Throwable thrown) {
            fail(thrown);
        }
    }

    /**
     * Returns a copy, because the task may fill the same list again before the records are stored. The list is empty if `poll`
     * returns null or throws a retriable exception.
     */
    private static List<SourceRecord> pollOnce(SourceTask task) throws InterruptedException {
        try {
            List<SourceRecord> records = task.poll();
            return records == null ? List.of() : new ArrayList<>(records);
        } catch (RetriableException | org.apache.kafka.common.errors.RetriableException error) {
            HostLog.warn("poll() failed and is tried again", error);
            Thread.sleep(RETRY_MS);
            return List.of();
        }
    }

    private void send(List<SourceRecord> records, List<ChainRecord> results, SourceBatchSender sender,
            SourceTransactions transactions) {
        commits.sent(sender.nextBatch(), records);
        TransactionEnds ends = transactions == null ? TransactionEnds.NONE : transactions.takeEnds(records);
        long bytes = sender.send(records, results, ends);
        change(() -> credit -= bytes);
    }

    private void fail(Throwable thrown) {
        try {
            connection.event("source.failed", (body) -> body.writeValue(Failures.describe(thrown)));
        } catch (ConnectionLostException lost) {
            HostLog.warn("a source task failed when its worker was gone", thrown);
        }
    }

    /** Waits until the next `poll` is due, and executes `callsBeforePoll` meanwhile. Returns false if the task must stop. */
    private boolean awaitTurn() throws InterruptedException {
        for (;;) {
            Runnable call;
            synchronized (lock) {
                while (!isStopping && callsBeforePoll.isEmpty() && (isPaused || credit <= 0)) lock.wait();
                call = callsBeforePoll.poll();
                if (call == null) return !isStopping;
            }
            call.run();
        }
    }

    private void change(Runnable change) {
        synchronized (lock) {
            change.run();
            lock.notifyAll();
        }
    }

    /** What the producer of the worker reports of one record; null for a record that was not written. */
    static RecordMetadata metadata(FrameReader reader) {
        if (reader.readByte() == 0) return null;
        TopicPartition partition = new TopicPartition(reader.readString(), reader.readVarint());
        long offset = reader.readFixed(8);
        long timestampMs = reader.readFixed(8);
        return new RecordMetadata(partition, offset, 0, timestampMs, -1, -1);
    }
}
