package dev.weir.host;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.storage.OffsetStorageReader;

/** Reads a connector's offsets from the worker, which has the topic that they are stored in. */
final class RemoteOffsets implements OffsetStorageReader {
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
        List<Object> answer = (List<Object>) await(partitions);
        Map<Map<String, T>, Map<String, Object>> offsets = new LinkedHashMap<>();
        int at = 0;
        for (Map<String, T> partition : partitions) {
            offsets.put(partition, (Map<String, Object>) answer.get(at));
            at++;
        }
        return offsets;
    }

    /** Without a time limit, as in Kafka Connect: the request ends with the connection at the latest. */
    private Object await(Collection<? extends Map<String, ?>> partitions) {
        try {
            return connection.request("offsets", (body) -> write(body, partitions)).get();
        } catch (ExecutionException failed) {
            throw new ConnectException("Failed to read stored offsets: " + failed.getCause().getMessage(), failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new ConnectException("Interrupted while reading stored offsets", interrupted);
        }
    }

    private static void write(FrameWriter body, Collection<? extends Map<String, ?>> partitions) {
        body.writeVarint(partitions.size());
        for (Map<String, ?> partition : partitions) body.writePosition(partition);
    }
}
