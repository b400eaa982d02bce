package dev.weir.host;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;

/**
 * The records of a chain as they cross the boundary: of each one only the parts that the steps read, and on the way back
 * only those that they changed. `chain-codec.ts` is the other side.
 */
final class ChainCodec {
    private static final int DROPPED = 0;
    private static final int PASSED = 1;
    private static final int FAILED = 2;
    private static final TimestampType[] TIMESTAMP_TYPES = TimestampType.values();

    private final boolean isSink;
    private final Set<ChainStep.Role> roles = EnumSet.noneOf(ChainStep.Role.class);
    private final int lastStep;

    ChainCodec(boolean isSink, List<ChainStep> steps) {
        this.isSink = isSink;
        for (ChainStep step : steps) roles.add(step.role);
        this.lastStep = steps.size() - 1;
    }

    ChainRecord read(FrameReader body) {
        ChainRecord record = new ChainRecord();
        record.topic = body.readString();
        record.partition = (Integer) body.readValue();
        record.timestamp = (Long) body.readValue();
        record.isSelected = body.readByte() == 1;
        readKey(body, record);
        readValue(body, record);
        readHeaders(body, record);
        if (needsRecord()) readOrigin(body, record);
        return record;
    }

    /** A result that is no Connect data is a failure of this record only. */
    void write(FrameWriter body, ChainRecord record) {
        int start = body.length();
        if (record.failure == null) {
            try {
                writeResult(body, record);
                return;
            } catch (FrameTooLargeException tooLarge) {
                throw tooLarge;
            } catch (RuntimeException notData) {
                body.truncate(start);
                record.failure = notData;
                record.failedStep = lastStep;
            }
        }
        writeFailure(body, record);
    }

    /** Writes the outcome only, because the record stays here. */
    void writeOutcome(FrameWriter body, ChainRecord record) {
        if (record.failure != null) writeFailure(body, record);
        else body.writeByte(record.isDropped ? DROPPED : PASSED);
    }

    private static void writeFailure(FrameWriter body, ChainRecord record) {
        body.writeByte(FAILED);
        body.writeVarint(record.failedStep);
        body.writeValue(Failures.describe(record.failure));
    }

    private void readKey(FrameReader body, ChainRecord record) {
        if (isSink && converts(ChainStep.Role.KEY_CONVERTER)) {
            record.keyBytes = (byte[]) body.readValue();
        } else if (needsRecord() || converts(ChainStep.Role.KEY_CONVERTER)) {
            record.keySchema = body.readSchema();
            record.key = body.readValue();
        }
    }

    private void readValue(FrameReader body, ChainRecord record) {
        if (isSink && converts(ChainStep.Role.VALUE_CONVERTER)) {
            record.valueBytes = (byte[]) body.readValue();
        } else if (needsRecord() || converts(ChainStep.Role.VALUE_CONVERTER)) {
            record.valueSchema = body.readSchema();
            record.value = body.readValue();
        }
    }

    /** Converters of keys and values also receive the headers as bytes. */
    private void readHeaders(FrameReader body, ChainRecord record) {
        boolean convertsHeaders = converts(ChainStep.Role.HEADER_CONVERTER);
        if (isSink ? needsRecord() && !convertsHeaders : needsRecord() || convertsHeaders) {
            record.headers = RecordCodec.readHeaders(body);
        }
        if (isSink ? convertsAny() : convertsAny() && !convertsHeaders) record.headerBytes = readHeaderBytes(body);
    }

    private void readOrigin(FrameReader body, ChainRecord record) {
        if (isSink) {
            TimestampType type = TIMESTAMP_TYPES[body.readByte()];
            record.origin = new ChainRecord.Origin(type, body.readFixed(8), body.readString(), body.readVarint(),
                body.readFixed(8));
        } else {
            record.sourcePartition = body.readObject();
            record.sourceOffset = body.readObject();
        }
    }

    private void writeResult(FrameWriter body, ChainRecord record) {
        body.writeByte(record.isDropped ? DROPPED : PASSED);
        if (record.isDropped) return;
        body.writeByte(record.isSelected ? 1 : 0);
        body.writeByte(record.isTransformed ? 1 : 0);
        if (record.isTransformed) {
            body.writeString(record.topic);
            body.writeValue(record.partition);
            body.writeValue(record.timestamp);
        }
        boolean convertsKey = converts(ChainStep.Role.KEY_CONVERTER);
        if (!isSink && convertsKey) body.writeValue(record.keyBytes);
        else if (record.isTransformed || convertsKey) RecordCodec.writeData(body, record.keySchema, record.key);
        boolean convertsValue = converts(ChainStep.Role.VALUE_CONVERTER);
        if (!isSink && convertsValue) body.writeValue(record.valueBytes);
        else if (record.isTransformed || convertsValue) RecordCodec.writeData(body, record.valueSchema, record.value);
        boolean convertsHeaders = converts(ChainStep.Role.HEADER_CONVERTER);
        if (isSink ? record.isTransformed || convertsHeaders : record.isTransformed && !convertsHeaders) {
            RecordCodec.writeHeaders(body, record.headers);
        }
        if (!isSink && convertsAny()) writeHeaderBytes(body, record.headerBytes);
    }

    private static RecordHeaders readHeaderBytes(FrameReader body) {
        RecordHeaders headers = new RecordHeaders();
        for (int count = body.readCount(); count > 0; count--) headers.add(body.readString(), (byte[]) body.readValue());
        return headers;
    }

    private static void writeHeaderBytes(FrameWriter body, RecordHeaders headers) {
        Header[] all = headers.toArray();
        body.writeVarint(all.length);
        for (Header header : all) {
            body.writeString(header.key());
            body.writeValue(header.value());
        }
    }

    private boolean converts(ChainStep.Role role) {
        return roles.contains(role);
    }

    private boolean convertsAny() {
        return converts(ChainStep.Role.HEADER_CONVERTER) || converts(ChainStep.Role.KEY_CONVERTER)
            || converts(ChainStep.Role.VALUE_CONVERTER);
    }

    /** Transformations and predicates see all of a record. */
    private boolean needsRecord() {
        return converts(ChainStep.Role.TRANSFORMATION) || converts(ChainStep.Role.PREDICATE);
    }
}
