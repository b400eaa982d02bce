package dev.weir.host;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** Calls `commitRecord` of a source task for each record that is stored, and `commit` when offsets are committed. */
final class SourceCommits {
    private final Plugins plugins;
    private final SourceTask task;
    private final Executor calls;
    /**
     * Whether `commit` is called only when every record that the task returned is stored. In `commit`, a task may confirm all
     * records that it returned. A skipped call is replaced by the call after a later commit.
     */
    private final boolean coversAll;
    /** Batches that were sent and are not yet stored, by their numbers, in ascending order. Guarded by itself. */
    private final Map<Long, List<SourceRecord>> sent = new LinkedHashMap<>();

    /** @param calls executes the calls to the task, one after the other */
    SourceCommits(Plugins plugins, SourceTask task, Executor calls, boolean coversAll) {
        this.plugins = plugins;
        this.task = task;
        this.calls = calls;
        this.coversAll = coversAll;
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

    void committed() {
        call("commit", () -> {
            if (!coversAll || isAllStored()) task.commit();
        });
    }

    private boolean isAllStored() {
        synchronized (sent) {
            return sent.isEmpty();
        }
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
            } catch (Throwable thrown) {
                if (thrown instanceof VirtualMachineError error && !(thrown instanceof StackOverflowError)) throw error;
                HostLog.warn(method + "() of a source task failed", thrown);
            }
        });
    }
}
