package dev.weir.host;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.Date;
import java.util.Map;
import org.apache.kafka.connect.data.ConnectSchema;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.DataException;

/**
 * Builds the body of one frame. Every value carries a tag of its Java type, so that a value arrives as it was, whether or
 * not it fits the schema beside it. Lengths and ids are unsigned LEB128, numbers are big-endian.
 */
final class FrameWriter {
    private final SchemaIds schemas;
    private byte[] bytes = new byte[512];
    private int length;

    FrameWriter(SchemaIds schemas) {
        this.schemas = schemas;
    }

    byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }

    int length() {
        return length;
    }

    /** Removes what was written since the frame had this length. */
    void truncate(int start) {
        length = start;
    }

    void writeByte(int value) {
        reserve(1);
        bytes[length++] = (byte) value;
    }

    void writeVarint(int value) {
        int rest = value;
        while ((rest & ~0x7f) != 0) {
            writeByte((rest & 0x7f) | 0x80);
            rest >>>= 7;
        }
        writeByte(rest);
    }

    void writeFixed(long value, int size) {
        reserve(size);
        for (int shift = (size - 1) * 8; shift >= 0; shift -= 8) bytes[length++] = (byte) (value >>> shift);
    }

    void writeString(String text) {
        writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    void writeBytes(byte[] value) {
        writeVarint(value.length);
        reserve(value.length);
        System.arraycopy(value, 0, bytes, length, value.length);
        length += value.length;
    }

    /** Throws a {@link DataException} for an object that is no Connect data. */
    void writeValue(Object value) {
        if (value == null) writeByte(Tag.NULL);
        else if (value instanceof String text) writeText(text);
        else if (value instanceof Integer number) writeNumber(Tag.INT32, number, 4);
        else if (value instanceof Long number) writeNumber(Tag.INT64, number, 8);
        else if (value instanceof Boolean flag) writeByte(flag ? Tag.TRUE : Tag.FALSE);
        else if (value instanceof Struct struct) writeStruct(struct, struct.schema());
        else if (value instanceof Double number) writeNumber(Tag.FLOAT64, Double.doubleToRawLongBits(number), 8);
        else if (value instanceof byte[] array) writeTagged(Tag.BYTES, array);
        else if (value instanceof ByteBuffer buffer) writeTagged(Tag.BYTE_BUFFER, remainingOf(buffer));
        else if (value instanceof BigDecimal decimal) writeDecimal(decimal);
        else if (value instanceof Date date) writeNumber(Tag.DATE, date.getTime(), 8);
        else if (value instanceof Float number) writeNumber(Tag.FLOAT32, Float.floatToRawIntBits(number), 4);
        else if (value instanceof Short number) writeNumber(Tag.INT16, number, 2);
        else if (value instanceof Byte number) writeNumber(Tag.INT8, number, 1);
        else if (value instanceof Map<?, ?> map) writeMap(map);
        else if (value instanceof Collection<?> items) writeList(items);
        else throw new DataException("A value of class " + value.getClass().getName() + " is not Connect data");
    }

    /**
     * A source partition or offset, with the values that Kafka Connect stores: its JSON converter makes text of bytes and of
     * doubles that are no numbers, and a float is the double with its digits.
     */
    void writePosition(Map<?, ?> position) {
        if (position == null) {
            writeByte(Tag.NULL);
            return;
        }
        writeByte(Tag.MAP);
        writeVarint(position.size());
        for (Map.Entry<?, ?> entry : position.entrySet()) {
            if (!(entry.getKey() instanceof String name)) throw new DataException("Offsets may only use String keys");
            writeText(name);
            writePrimitive(name, entry.getValue());
        }
    }

    private void writePrimitive(String name, Object value) {
        if (value instanceof Double number) writeDouble(number);
        else if (value instanceof Float number) writeDouble(Double.parseDouble(number.toString()));
        else if (value instanceof byte[] array) writeText(Base64.getEncoder().encodeToString(array));
        else if (value instanceof ByteBuffer buffer) writeText(Base64.getEncoder().encodeToString(remainingOf(buffer)));
        else if (value == null || value instanceof String || value instanceof Boolean || value instanceof Long
            || value instanceof Integer || value instanceof Short || value instanceof Byte) writeValue(value);
        else throw new DataException("Offsets may only contain primitive types as values, but field " + name + " contains "
            + typeOf(value));
    }

    private void writeDouble(double number) {
        if (Double.isFinite(number)) writeValue(number);
        else writeText(Double.toString(number));
    }

    /** The type of Connect data, or the class of other data. */
    private static Object typeOf(Object value) {
        Schema.Type type = ConnectSchema.schemaType(value.getClass());
        return type == null ? value.getClass() : type;
    }

    /** The id of a schema, 0 for none. Its definition is sent before this frame where the other side lacks it. */
    void writeSchema(Schema schema) {
        writeVarint(schema == null ? 0 : schemas.idOf(schema));
    }

    private void writeText(String text) {
        writeByte(Tag.STRING);
        writeString(text);
    }

    private void writeNumber(int tag, long bits, int size) {
        writeByte(tag);
        writeFixed(bits, size);
    }

    private void writeTagged(int tag, byte[] value) {
        writeByte(tag);
        writeBytes(value);
    }

    private void writeDecimal(BigDecimal decimal) {
        writeByte(Tag.DECIMAL);
        writeFixed(decimal.scale(), 4);
        writeBytes(decimal.unscaledValue().toByteArray());
    }

    private void writeMap(Map<?, ?> map) {
        writeByte(Tag.MAP);
        writeVarint(map.size());
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            writeValue(entry.getKey());
            writeValue(entry.getValue());
        }
    }

    private void writeList(Collection<?> items) {
        writeByte(Tag.LIST);
        writeVarint(items.size());
        for (Object item : items) writeValue(item);
    }

    /**
     * Writes the fields as they were set. The receiver applies the defaults of fields without a value.
     *
     * @param schema has the fields of the struct
     */
    void writeStruct(Struct struct, Schema schema) {
        writeByte(Tag.STRUCT);
        writeSchema(schema);
        for (Field field : schema.fields()) writeValue(struct.getWithoutDefault(field.name()));
    }

    private static byte[] remainingOf(ByteBuffer buffer) {
        byte[] copy = new byte[buffer.remaining()];
        buffer.duplicate().get(copy);
        return copy;
    }

    private void reserve(int size) {
        if (length > Connection.BODY_BYTES_MAX - size) throw new FrameTooLargeException();
        if (length + size > bytes.length) bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + size));
    }
}
