package dev.weir.host;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.storage.OffsetStorageReader;

/** Reads a connector's offsets from the worker, which has the topic that they are stored in. */
final class RemoteOffsets implements OffsetStorageReader {
    private static final int TIMEOUT_SECONDS = 60;

    private final Connection connection;

    RemoteOffsets(Connection connection) {
        this.connection = connection;
    }

    @Override
    public <T> Map<String, Object> offset(Map<String, T> partition) {
        return offsets(List.of(partition)).get(partition);
    }

    /** A partition without a stored offset has the value null. */
    @Override
    @SuppressWarnings("unchecked")
    public <T> Map<Map<String, T>, Map<String, Object>> offsets(Collection<Map<String, T>> partitions) {
        List<Object> asked = new ArrayList<>(partitions);
        List<Object> answer = (List<Object>) await(asked);
        Map<Map<String, T>, Map<String, Object>> offsets = new LinkedHashMap<>();
        int at = 0;
        for (Map<String, T> partition : partitions) {
            offsets.put(partition, (Map<String, Object>) answer.get(at));
            at++;
        }
        return offsets;
    }

    private Object await(List<Object> partitions) {
        try {
            return connection.request("offsets", (body) -> body.writeValue(partitions))
                .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw new ConnectException("Failed to read stored offsets: " + failed.getCause().getMessage(), failed);
        } catch (TimeoutException late) {
            throw new ConnectException("Failed to read stored offsets within " + TIMEOUT_SECONDS + " s", late);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new ConnectException("Interrupted while reading stored offsets", interrupted);
        }
    }
}
