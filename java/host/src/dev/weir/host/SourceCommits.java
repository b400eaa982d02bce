package dev.weir.host;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** Passes on to a source task what is stored of its records: `commitRecord` for each, `commit` when offsets are. */
final class SourceCommits {
    private final Plugins plugins;
    private final SourceTask task;
    private final ExecutorService calls;
    /** Sent and not yet stored, in the order of their numbers. Guarded by itself. */
    private final Map<Long, List<SourceRecord>> sent = new LinkedHashMap<>();

    SourceCommits(Plugins plugins, SourceTask task, String name) {
        this.plugins = plugins;
        this.task = task;
        this.calls = Executors.newSingleThreadExecutor((run) -> Session.daemon(run, name + "-commit"));
    }

    void sent(long batch, List<SourceRecord> records) {
        synchronized (sent) {
            sent.put(batch, records);
        }
    }

    void stored(FrameReader argument) {
        long batch = argument.readFixed(8);
        List<SourceRecord> records;
        synchronized (sent) {
            records = sent.remove(batch);
        }
        if (records == null) throw new ProtocolException("batch " + batch + " was not sent, or is stored already");
        RecordMetadata[] metadata = new RecordMetadata[records.size()];
        for (int at = 0; at < metadata.length; at++) metadata[at] = SourceTaskOperations.metadata(argument);
        call("commitRecord", () -> {
            for (int at = 0; at < metadata.length; at++) task.commitRecord(records.get(at), metadata[at]);
        });
    }

    void committed(Runnable afterwards) {
        call("commit", () -> {
            try {
                task.commit();
            } finally {
                afterwards.run();
            }
        });
    }

    void close() {
        calls.shutdown();
    }

    private interface Call {
        void run() throws InterruptedException;
    }

    /** Connect logs what these two methods throw, and continues. */
    private void call(String method, Call code) {
        calls.execute(() -> {
            try {
                plugins.call(() -> {
                    code.run();
                    return null;
                });
            } catch (Exception thrown) {
                HostLog.warn(method + "() of a source task failed", thrown);
            }
        });
    }
}
