package dev.weir.host;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.RetriableException;

/**
 * Consecutive predicates, transformations and converters of a pipeline, applied to one record after the other. A step that
 * fails with a retriable exception is repeated as Connect does, so that the records behind it wait. Any other exception
 * fails its record only; an error fails the task.
 */
final class RecordChain implements AutoCloseable {
    private static final long RETRY_DELAY_MS_MIN = 300;

    private final List<ChainStep> steps = new ArrayList<>();
    private final long retryTimeoutMs;
    private final long retryDelayMsMax;
    private final CountDownLatch closed = new CountDownLatch(1);
    final ChainCodec codec;

    RecordChain(PluginLocations locations, Argument chain) throws Exception {
        boolean isSink = chain.flag("isSink");
        retryTimeoutMs = chain.number("retryTimeoutMs");
        retryDelayMsMax = chain.number("retryDelayMsMax");
        try {
            for (Argument step : chain.objects("steps")) steps.add(ChainStep.create(locations, step, isSink));
        } catch (Exception | LinkageError failed) {
            close();
            throw failed;
        }
        codec = new ChainCodec(isSink, steps);
    }

    void apply(ChainRecord record) throws InterruptedException {
        for (int at = 0; at < steps.size(); at++) {
            try {
                if (applyWithRetries(steps.get(at), record)) continue;
                record.isDropped = true;
                return;
            } catch (InterruptedException interrupted) {
                throw interrupted;
            } catch (Exception failed) {
                record.failure = failed;
                record.failedStep = at;
                return;
            }
        }
    }

    private boolean applyWithRetries(ChainStep step, ChainRecord record) throws Exception {
        long startMs = nowMs();
        for (int attempt = 0;; attempt++) {
            try {
                return step.apply(record);
            } catch (RetriableException failed) {
                long leftMs = retryTimeoutMs < 0 ? Long.MAX_VALUE : startMs + retryTimeoutMs - nowMs();
                if (leftMs <= 0) throw failed;
                if (closed.await(Math.min(leftMs, delayMs(attempt)), TimeUnit.MILLISECONDS)) throw failed;
                record.retries++;
            }
        }
    }

    private long delayMs(int attempt) {
        long doubled = RETRY_DELAY_MS_MIN << Math.min(attempt, 30);
        if (doubled <= retryDelayMsMax) return doubled;
        if (retryDelayMsMax <= RETRY_DELAY_MS_MIN) return retryDelayMsMax;
        return ThreadLocalRandom.current().nextLong(RETRY_DELAY_MS_MIN, retryDelayMsMax);
    }

    private static long nowMs() {
        return System.nanoTime() / 1_000_000;
    }

    /** Ends a retry that waits, from another thread. */
    void interrupt() {
        closed.countDown();
    }

    /** Closes every plugin, also when one of them throws. */
    @Override
    public void close() {
        interrupt();
        for (ChainStep step : steps) {
            try {
                step.close();
            } catch (Exception | LinkageError failed) {
                HostLog.warn("close() of a " + step.role + " failed", failed);
            }
        }
        steps.clear();
    }
}
