package dev.weir.host;

import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.header.Headers;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Records as they cross the boundary: topic, partition, timestamp, key and value with their schemas, headers; then what
 * the kind has of its own.
 */
final class RecordCodec {
    private static final TimestampType[] TIMESTAMP_TYPES = TimestampType.values();

    private RecordCodec() {}

    /** What a transformation may have changed: the same for both kinds. */
    static void writeRecord(FrameWriter body, ConnectRecord<?> record) {
        body.writeValue(record.topic());
        body.writeValue(record.kafkaPartition());
        body.writeValue(record.timestamp());
        writeData(body, record.keySchema(), record.key());
        writeData(body, record.valueSchema(), record.value());
        writeHeaders(body, record.headers());
    }

    static void writeSource(FrameWriter body, SourceRecord record) {
        writeRecord(body, record);
        body.writePosition(record.sourcePartition());
        body.writePosition(record.sourceOffset());
    }

    static SourceRecord readSource(FrameReader body) {
        String topic = (String) body.readValue();
        Integer partition = (Integer) body.readValue();
        Long timestamp = (Long) body.readValue();
        Schema keySchema = body.readSchema();
        Object key = body.readValue();
        Schema valueSchema = body.readSchema();
        Object value = body.readValue();
        Headers headers = readHeaders(body);
        return new SourceRecord(body.readObject(), body.readObject(), topic, partition, keySchema, key, valueSchema,
            value, timestamp, headers);
    }

    /** Beside the record as transforms left it, where it was in the log. */
    static SinkRecord readSink(FrameReader body) {
        String topic = (String) body.readValue();
        int partition = (Integer) body.readValue();
        Long timestamp = (Long) body.readValue();
        Schema keySchema = body.readSchema();
        Object key = body.readValue();
        Schema valueSchema = body.readSchema();
        Object value = body.readValue();
        Headers headers = readHeaders(body);
        int timestampType = body.readByte();
        if (timestampType >= TIMESTAMP_TYPES.length) throw new ProtocolException("no timestamp type " + timestampType);
        long offset = body.readFixed(8);
        String originalTopic = body.readString();
        int originalPartition = body.readVarint();
        long originalOffset = body.readFixed(8);
        return new SinkRecord(topic, partition, keySchema, key, valueSchema, value, offset, timestamp,
            TIMESTAMP_TYPES[timestampType], headers, originalTopic, originalPartition, originalOffset);
    }

    static void writeData(FrameWriter body, Schema schema, Object value) {
        body.writeSchema(schema);
        body.writeValue(value);
    }

    static void writeHeaders(FrameWriter body, Headers headers) {
        body.writeVarint(headers == null ? 0 : headers.size());
        if (headers == null) return;
        for (Header header : headers) {
            body.writeString(header.key());
            writeData(body, header.schema(), header.value());
        }
    }

    static Headers readHeaders(FrameReader body) {
        int count = body.readCount();
        ConnectHeaders headers = new ConnectHeaders();
        for (int at = 0; at < count; at++) {
            String key = body.readString();
            Schema schema = body.readSchema();
            headers.add(key, body.readValue(), schema);
        }
        return headers;
    }
}
