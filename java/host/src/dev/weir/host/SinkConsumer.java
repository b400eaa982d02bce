package dev.weir.host;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.sink.SinkTaskContext;

/**
 * Implements Kafka's `Consumer` interface for sink tasks that take the consumer from their context. The actual consumer is in
 * the worker, which polls and commits. Only the assignment, the committed offsets, the group metadata and `seek` are available.
 */
final class SinkConsumer implements InvocationHandler {
    private final Connection connection;
    private final SinkTaskContext context;

    private SinkConsumer(Connection connection, SinkTaskContext context) {
        this.connection = connection;
        this.context = context;
    }

    @SuppressWarnings("unchecked")
    static org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> of(Connection connection, SinkTaskContext context) {
        Class<?> type = org.apache.kafka.clients.consumer.Consumer.class;
        return (org.apache.kafka.clients.consumer.Consumer<byte[], byte[]>) Proxy.newProxyInstance(
            type.getClassLoader(), new Class<?>[] {type}, new SinkConsumer(connection, context));
    }

    @Override
    @SuppressWarnings("unchecked")
    public Object invoke(Object proxy, Method method, Object[] arguments) {
        switch (method.getName()) {
            case "assignment":
                return context.assignment();
            case "committed":
                return committed((Collection<TopicPartition>) arguments[0]);
            case "groupMetadata":
                return groupMetadata();
            case "seek":
                context.offset((TopicPartition) arguments[0], offsetOf(arguments[1]));
                return null;
            case "equals":
                return proxy == arguments[0];
            case "hashCode":
                return System.identityHashCode(proxy);
            case "toString":
                return "the consumer of a sink task in the worker";
            default:
                throw new UnsupportedOperationException("Consumer." + method.getName()
                    + "() is not available to plugins: the worker reads, commits and closes");
        }
    }

    /** Returns the committed offset of each partition; null for a partition without one. */
    @SuppressWarnings("unchecked")
    private Map<TopicPartition, OffsetAndMetadata> committed(Collection<TopicPartition> partitions) {
        List<Object> asked = new ArrayList<>();
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (TopicPartition one : partitions) {
            asked.add(List.of(one.topic(), one.partition()));
            offsets.put(one, null);
        }
        List<Object> committed = (List<Object>) ask("sink.committed", (body) -> body.writeValue(asked));
        offsets.putAll(SinkTaskOperations.toOffsets(committed));
        return offsets;
    }

    /**
     * Returns the group metadata with the current generation. The broker rejects offsets that are committed with the
     * generation of a member whose partitions were revoked.
     */
    @SuppressWarnings({"unchecked", "removal"})
    private ConsumerGroupMetadata groupMetadata() {
        Map<String, Object> member = (Map<String, Object>) ask("sink.member", (body) -> body.writeValue(null));
        return new ConsumerGroupMetadata(
            (String) member.get("groupId"),
            ((Number) member.get("generation")).intValue(),
            (String) member.get("memberId"),
            Optional.ofNullable((String) member.get("instanceId")));
    }

    private static long offsetOf(Object argument) {
        return argument instanceof OffsetAndMetadata both ? both.offset() : (Long) argument;
    }

    /** The worker limits its own requests; this one ends with the connection at the latest. */
    private Object ask(String operation, Consumer<FrameWriter> argument) {
        try {
            return connection.request(operation, argument).get();
        } catch (ExecutionException failed) {
            throw new ConnectException(failed.getCause().getMessage(), failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new ConnectException("Interrupted while waiting for the worker", interrupted);
        }
    }
}
