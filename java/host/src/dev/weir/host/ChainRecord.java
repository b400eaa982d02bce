package dev.weir.host;

import java.util.Map;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;

/** What the steps of a chain have made of one record: its data, its bytes, or both. */
final class ChainRecord {
    /** What a sink record has of its place in the log. */
    record Origin(TimestampType timestampType, long offset, String topic, int partition, long originalOffset) {}

    String topic;
    Integer partition;
    Long timestamp;
    Schema keySchema;
    Object key;
    Schema valueSchema;
    Object value;
    org.apache.kafka.connect.header.Headers headers = new ConnectHeaders();
    byte[] keyBytes;
    byte[] valueBytes;
    RecordHeaders headerBytes = new RecordHeaders();
    /** Set for a source record. */
    Map<String, Object> sourcePartition;
    Map<String, Object> sourceOffset;
    /** Set for a sink record. */
    Origin origin;
    /** Whether the next conditional transformation is applied to this record. */
    boolean isSelected;
    /** Whether a transformation was applied, so that anything may have changed. */
    boolean isTransformed;
    boolean isDropped;
    /** Null unless a step failed; then it is the last one that was applied. */
    Throwable failure;
    int failedStep;
    int retries;
    private ConnectRecord<?> record;

    static ChainRecord of(SourceRecord polled) {
        ChainRecord chained = new ChainRecord();
        chained.transformed(polled);
        return chained;
    }

    /** The record for transformations and predicates, with the key, value and headers as data. */
    ConnectRecord<?> toConnectRecord() {
        if (record == null) {
            record = origin == null
                ? new SourceRecord(sourcePartition, sourceOffset, topic, partition, keySchema, key, valueSchema, value,
                    timestamp, headers)
                : new SinkRecord(topic, partition, keySchema, key, valueSchema, value, origin.offset, timestamp,
                    origin.timestampType, headers, origin.topic, origin.partition, origin.originalOffset);
        }
        return record;
    }

    void transformed(ConnectRecord<?> changed) {
        record = changed;
        isTransformed = true;
        topic = changed.topic();
        partition = changed.kafkaPartition();
        timestamp = changed.timestamp();
        keySchema = changed.keySchema();
        key = changed.key();
        valueSchema = changed.valueSchema();
        value = changed.value();
        headers = changed.headers();
    }

    void fromConnect(Converter converter, boolean isKey) {
        if (isKey) keyBytes = converter.fromConnectData(topic, headerBytes, keySchema, key);
        else valueBytes = converter.fromConnectData(topic, headerBytes, valueSchema, value);
    }

    void toConnect(Converter converter, boolean isKey) {
        SchemaAndValue data = converter.toConnectData(topic, headerBytes, isKey ? keyBytes : valueBytes);
        if (isKey) {
            keySchema = data.schema();
            key = data.value();
        } else {
            valueSchema = data.schema();
            value = data.value();
        }
    }

    void headersFromConnect(HeaderConverter converter) {
        RecordHeaders converted = new RecordHeaders();
        for (Header header : headers) {
            converted.add(header.key(),
                converter.fromConnectHeader(topic, header.key(), header.schema(), header.value()));
        }
        headerBytes = converted;
    }

    void headersToConnect(HeaderConverter converter) {
        ConnectHeaders converted = new ConnectHeaders();
        for (org.apache.kafka.common.header.Header header : headerBytes) {
            converted.add(header.key(), converter.toConnectHeader(topic, header.key(), header.value()));
        }
        headers = converted;
    }
}
