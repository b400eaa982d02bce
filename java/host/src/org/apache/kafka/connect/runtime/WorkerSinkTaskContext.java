package org.apache.kafka.connect.runtime;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.connect.sink.SinkTaskContext;

/**
 * Has the name and the field of the class with which Kafka Connect implements the context of sink tasks. Some plugins
 * read the consumer from it by reflection: Apache Iceberg's sink commits offsets in transactions of its own.
 */
public abstract class WorkerSinkTaskContext implements SinkTaskContext {
    private Consumer<byte[], byte[]> consumer;

    protected final void useConsumer(Consumer<byte[], byte[]> consumer) {
        this.consumer = consumer;
    }
}
