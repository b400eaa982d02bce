package dev.weir.host;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.IllegalWorkerStateException;
import org.apache.kafka.connect.runtime.WorkerSinkTaskContext;
import org.apache.kafka.connect.sink.ErrantRecordReporter;
import org.apache.kafka.connect.sink.SinkRecord;

/** Gathers what a sink task asks of its worker until the next response carries it there. */
final class HostSinkContext extends WorkerSinkTaskContext {
    private final Connection connection;
    private final Map<String, String> configs;
    private final HostMetrics metrics;
    private final ErrantRecordReporter reporter;
    private final List<CompletableFuture<Object>> reports = new ArrayList<>();
    private final Set<TopicPartition> assignment = new LinkedHashSet<>();
    private final Set<TopicPartition> paused = new LinkedHashSet<>();
    private Map<TopicPartition, Long> rewinds = new LinkedHashMap<>();
    private boolean hasPauseChanged;
    private long timeoutMs = -1;
    private boolean isCommitRequested;

    HostSinkContext(
        Connection connection, Map<String, String> configs, HostMetrics metrics, boolean reportsErrantRecords) {
        this.connection = connection;
        this.configs = configs;
        this.metrics = metrics;
        this.reporter = reportsErrantRecords ? this::report : null;
        useConsumer(SinkConsumer.of(connection, this));
    }

    synchronized void assigned(Collection<TopicPartition> partitions) {
        assignment.addAll(partitions);
    }

    synchronized void revoked(Collection<TopicPartition> partitions) {
        assignment.removeAll(partitions);
        paused.removeAll(partitions);
        rewinds.keySet().removeAll(partitions);
    }

    /** Only what was asked for since the last response. */
    synchronized Map<String, Object> takeRequests() {
        Map<String, Object> asked = new LinkedHashMap<>();
        if (!rewinds.isEmpty()) {
            List<Object> offsets = new ArrayList<>();
            rewinds.forEach((one, offset) -> offsets.add(List.of(one.topic(), one.partition(), offset)));
            asked.put("rewinds", offsets);
            rewinds = new LinkedHashMap<>();
        }
        if (hasPauseChanged) {
            List<Object> partitions = new ArrayList<>();
            for (TopicPartition one : paused) partitions.add(List.of(one.topic(), one.partition()));
            asked.put("paused", partitions);
            hasPauseChanged = false;
        }
        if (timeoutMs >= 0) asked.put("timeoutMs", timeoutMs);
        if (isCommitRequested) asked.put("commitRequested", true);
        timeoutMs = -1;
        isCommitRequested = false;
        return asked;
    }

    /** Offsets are only safe when every reported record is: Connect waits for them before a commit, too. */
    void awaitReports() throws InterruptedException {
        List<CompletableFuture<Object>> waited;
        synchronized (reports) {
            waited = new ArrayList<>(reports);
            reports.clear();
        }
        for (CompletableFuture<Object> report : waited) {
            try {
                report.get();
            } catch (ExecutionException failed) {
                throw new ConnectException("Failed to report an errant record: " + failed.getCause().getMessage(), failed);
            }
        }
    }

    private Future<Void> report(SinkRecord record, Throwable thrown) {
        CompletableFuture<Object> answer = connection.request("sink.report", (body) -> {
            body.writeString(record.originalTopic());
            body.writeVarint(record.originalKafkaPartition());
            body.writeFixed(record.originalKafkaOffset(), 8);
            body.writeValue(Failures.describe(thrown));
        });
        synchronized (reports) {
            reports.removeIf((report) -> report.isDone() && !report.isCompletedExceptionally());
            reports.add(answer);
        }
        return answer.thenApply((none) -> null);
    }

    @Override
    public Map<String, String> configs() {
        return configs;
    }

    /** As in Connect, a null offset is ignored. */
    @Override
    public synchronized void offset(Map<TopicPartition, Long> offsets) {
        offsets.forEach((partition, offset) -> {
            if (offset == null) HostLog.warn("the offset null that the task requests for " + partition + " is ignored", null);
            else rewinds.put(partition, offset);
        });
    }

    @Override
    public synchronized void offset(TopicPartition partition, long offset) {
        rewinds.put(partition, offset);
    }

    @Override
    public synchronized void timeout(long timeoutMs) {
        this.timeoutMs = timeoutMs;
    }

    @Override
    public synchronized Set<TopicPartition> assignment() {
        return Set.copyOf(assignment);
    }

    @Override
    public synchronized void pause(TopicPartition... partitions) {
        checkAssigned(partitions);
        hasPauseChanged |= paused.addAll(List.of(partitions));
    }

    @Override
    public synchronized void resume(TopicPartition... partitions) {
        checkAssigned(partitions);
        hasPauseChanged |= paused.removeAll(List.of(partitions));
    }

    @Override
    public synchronized void requestCommit() {
        isCommitRequested = true;
    }

    /** Null where the connector has no dead letter queue and tolerates no errors, as in Connect. */
    @Override
    public ErrantRecordReporter errantRecordReporter() {
        return reporter;
    }

    @Override
    public PluginMetrics pluginMetrics() {
        return metrics;
    }

    private void checkAssigned(TopicPartition... partitions) {
        for (TopicPartition partition : partitions) {
            if (!assignment.contains(partition)) {
                throw new IllegalWorkerStateException("Partition " + partition + " is not assigned to this task");
            }
        }
    }
}
