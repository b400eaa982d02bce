package org.apache.kafka.connect.runtime;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.connect.sink.SinkTaskContext;

/**
 * The class of this name implements the context of sink tasks in Kafka Connect. Some plugins read its field `consumer` by
 * reflection: Apache Iceberg's sink needs it to commit offsets in its own transactions.
 */
public abstract class WorkerSinkTaskContext implements SinkTaskContext {
    private Consumer<byte[], byte[]> consumer;

    protected final void useConsumer(Consumer<byte[], byte[]> consumer) {
        this.consumer = consumer;
    }
}
