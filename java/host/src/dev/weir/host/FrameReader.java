package dev.weir.host;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;

/** Reads the body of one frame, as {@link FrameWriter} writes it. Throws a {@link ProtocolException} for a damaged one. */
final class FrameReader {
    private final ByteBuffer bytes;
    private final IntFunction<Schema> schemas;

    FrameReader(byte[] body, IntFunction<Schema> schemas) {
        this.bytes = ByteBuffer.wrap(body);
        this.schemas = schemas;
    }

    boolean isAtEnd() {
        return !bytes.hasRemaining();
    }

    int readByte() {
        require(1);
        return bytes.get() & 0xff;
    }

    int readVarint() {
        int value = 0;
        for (int shift = 0; shift < 35; shift += 7) {
            int part = readByte();
            value |= (part & 0x7f) << shift;
            if ((part & 0x80) == 0) return value;
        }
        throw new ProtocolException("a number has more than five bytes");
    }

    /** A count of things of at least one byte each. */
    int readCount() {
        int count = readVarint();
        require(count);
        return count;
    }

    String readString() {
        return new String(readBytes(), StandardCharsets.UTF_8);
    }

    byte[] readBytes() {
        byte[] value = new byte[readCount()];
        bytes.get(value);
        return value;
    }

    /** Null for id 0. */
    Schema readSchema() {
        int id = readVarint();
        return id == 0 ? null : schemas.apply(id);
    }

    Object readValue() {
        int tag = readByte();
        switch (tag) {
            case Tag.NULL: return null;
            case Tag.TRUE: return Boolean.TRUE;
            case Tag.FALSE: return Boolean.FALSE;
            case Tag.INT8: return (byte) readFixed(1);
            case Tag.INT16: return (short) readFixed(2);
            case Tag.INT32: return (int) readFixed(4);
            case Tag.INT64: return readFixed(8);
            case Tag.FLOAT32: return Float.intBitsToFloat((int) readFixed(4));
            case Tag.FLOAT64: return Double.longBitsToDouble(readFixed(8));
            case Tag.STRING: return readString();
            case Tag.BYTES: return readBytes();
            case Tag.BYTE_BUFFER: return ByteBuffer.wrap(readBytes());
            case Tag.DECIMAL: {
                int scale = (int) readFixed(4);
                return new BigDecimal(new BigInteger(readBytes()), scale);
            }
            case Tag.DATE: return new Date(readFixed(8));
            case Tag.LIST: return readList();
            case Tag.MAP: return readMap();
            case Tag.STRUCT: return readStruct();
            default: throw new ProtocolException("no value has tag " + tag);
        }
    }

    @SuppressWarnings("unchecked")
    Map<String, Object> readObject() {
        return (Map<String, Object>) readValue();
    }

    long readFixed(int size) {
        require(size);
        switch (size) {
            case 1: return bytes.get();
            case 2: return bytes.getShort();
            case 4: return bytes.getInt();
            default: return bytes.getLong();
        }
    }

    private List<Object> readList() {
        int count = readCount();
        List<Object> items = new ArrayList<>(count);
        for (int at = 0; at < count; at++) items.add(readValue());
        return items;
    }

    private Map<Object, Object> readMap() {
        int count = readCount();
        Map<Object, Object> map = new LinkedHashMap<>(count * 2);
        for (int at = 0; at < count; at++) {
            Object key = readValue();
            map.put(key, readValue());
        }
        return map;
    }

    private Struct readStruct() {
        Schema schema = readSchema();
        if (schema == null) throw new ProtocolException("a struct has no schema");
        Struct struct = new Struct(schema);
        for (Field field : schema.fields()) {
            Object value = readValue();
            if (value != null) struct.put(field, value);
        }
        return struct;
    }

    private void require(int size) {
        if (size < 0 || size > bytes.remaining()) {
            throw new ProtocolException("a frame ends in the middle of a value");
        }
    }
}
