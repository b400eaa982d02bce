package dev.weir.host;

/** What the first byte of a value says. */
final class Tag {
    static final int NULL = 0;
    static final int TRUE = 1;
    static final int FALSE = 2;
    static final int INT8 = 3;
    static final int INT16 = 4;
    static final int INT32 = 5;
    static final int INT64 = 6;
    static final int FLOAT32 = 7;
    static final int FLOAT64 = 8;
    static final int STRING = 9;
    static final int BYTES = 10;
    /** Bytes that were a {@link java.nio.ByteBuffer}. */
    static final int BYTE_BUFFER = 11;
    /** A {@link java.math.BigDecimal}: its scale, four bytes, and its unscaled value. */
    static final int DECIMAL = 12;
    /** A {@link java.util.Date}: milliseconds since 1970. */
    static final int DATE = 13;
    static final int LIST = 14;
    static final int MAP = 15;
    /** The id of the schema, and the values of its fields in their order. */
    static final int STRUCT = 16;

    private Tag() {}
}
