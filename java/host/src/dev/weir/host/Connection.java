package dev.weir.host;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * One connection to a worker. A frame is: its length without this field (4 bytes), its type (1 byte), an id (4 bytes) and
 * a body. Both sides may send requests; a response carries the id of its request.
 */
final class Connection implements Closeable {
    /** The version of this protocol. The first frame of each side contains it. */
    static final int VERSION = 1;

    /** Maximum size of a frame in bytes, without its length field. */
    static final int FRAME_BYTES_MAX = 256 * 1024 * 1024;
    private static final int LENGTH_BYTES = 4;
    private static final int HEADER_BYTES = LENGTH_BYTES + 5;
    /** Maximum size of the body of a frame in bytes. */
    static final int BODY_BYTES_MAX = FRAME_BYTES_MAX - (HEADER_BYTES - LENGTH_BYTES);

    private static final int HELLO = 0;
    private static final int REQUEST = 1;
    private static final int RESPONSE = 2;
    private static final int FAILURE = 3;
    private static final int EVENT = 4;
    private static final int SCHEMA = 5;
    private static final int FORGET_SCHEMAS = 6;

    /** What the other side asks. The reader is only to be used within the call. */
    interface Handler {
        void request(int id, String operation, FrameReader argument);

        /** Must return quickly: frames behind it wait. */
        void event(String name, FrameReader argument);
    }

    /** A response that is more than one value. */
    @FunctionalInterface
    interface Body {
        void write(FrameWriter body);
    }

    private final SocketChannel channel;
    /** What the first frame of the other side must contain. */
    private final String token;
    private boolean isGreeted;
    private final DataInputStream input;
    private final SchemaIds sentSchemas;
    private final SchemaDefinitions receivedSchemas = new SchemaDefinitions();
    private final Map<Integer, CompletableFuture<Object>> pending = new ConcurrentHashMap<>();
    private final AtomicInteger lastRequest = new AtomicInteger();

    Connection(SocketChannel channel, String token) {
        this.channel = channel;
        this.token = token;
        this.input = new DataInputStream(new BufferedInputStream(Channels.newInputStream(channel), 1 << 16));
        this.sentSchemas = new SchemaIds(new SchemaIds.Sender() {
            @Override
            public void define(int id, byte[] definition) {
                write(SCHEMA, id, definition, definition.length);
            }

            @Override
            public void forgetAll() {
                write(FORGET_SCHEMAS, 0, new byte[0], 0);
            }
        });
    }

    /** Returns when the other side has closed the connection. */
    void serve(Handler handler) throws IOException {
        send(HELLO, 0, (body) -> body.writeVarint(VERSION));
        try {
            for (;;) receive(handler);
        } catch (EOFException end) {
            // The other side has closed it.
        } finally {
            IOException gone = new IOException("the worker has closed the connection");
            pending.values().forEach((future) -> future.completeExceptionally(gone));
            close();
        }
    }

    void respond(int id, Object value) {
        send(RESPONSE, id, (body) -> {
            if (value instanceof Body parts) parts.write(body);
            else body.writeValue(value);
        });
    }

    void fail(int id, Throwable thrown) {
        send(FAILURE, id, (body) -> body.writeValue(Failures.describe(thrown)));
    }

    /** Returns the bytes of the frame, which count against what the other side has allowed. */
    int event(String name, Consumer<FrameWriter> argument) {
        return send(EVENT, 0, (body) -> {
            body.writeString(name);
            argument.accept(body);
        });
    }

    CompletableFuture<Object> request(String operation, Consumer<FrameWriter> argument) {
        int id = lastRequest.incrementAndGet();
        CompletableFuture<Object> answer = new CompletableFuture<>();
        pending.put(id, answer);
        send(REQUEST, id, (body) -> {
            body.writeString(operation);
            argument.accept(body);
        });
        return answer;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private void receive(Handler handler) throws IOException {
        int length = input.readInt();
        if (length < HEADER_BYTES - LENGTH_BYTES || length > FRAME_BYTES_MAX) {
            throw new ProtocolException("a frame says that it has " + length + " bytes");
        }
        int type = input.readUnsignedByte();
        int id = input.readInt();
        byte[] body = input.readNBytes(length - 5);
        if (body.length < length - 5) throw new EOFException();
        FrameReader reader = new FrameReader(body, receivedSchemas.current());
        if (!isGreeted && type != HELLO) throw new ProtocolException("the other side did not greet");
        switch (type) {
            case HELLO -> greet(reader);
            case REQUEST -> handler.request(id, reader.readString(), reader);
            case RESPONSE -> settle(id, (future) -> future.complete(reader.readValue()));
            case FAILURE -> settle(id, (future) -> future.completeExceptionally(Failures.toException(reader.readObject())));
            case EVENT -> handler.event(reader.readString(), reader);
            case SCHEMA -> receivedSchemas.define(id, body);
            case FORGET_SCHEMAS -> receivedSchemas.forgetAll();
            default -> throw new ProtocolException("no frame has type " + type);
        }
    }

    private void greet(FrameReader reader) {
        int version = reader.readVarint();
        if (version != VERSION) {
            throw new ProtocolException("the worker speaks version " + version + " of the protocol, this host " + VERSION);
        }
        byte[] presented = reader.readString().getBytes(StandardCharsets.UTF_8);
        if (!MessageDigest.isEqual(presented, token.getBytes(StandardCharsets.UTF_8))) {
            throw new ProtocolException("a connection presented another token");
        }
        isGreeted = true;
    }

    private void settle(int id, Consumer<CompletableFuture<Object>> outcome) {
        CompletableFuture<Object> future = pending.remove(id);
        if (future != null) outcome.accept(future);
    }

    /** Under one lock from the first schema id to the last byte: a definition goes before the frame that uses it. */
    private synchronized int send(int type, int id, Consumer<FrameWriter> fill) {
        sentSchemas.trim();
        FrameWriter body = new FrameWriter(sentSchemas);
        fill.accept(body);
        byte[] bytes = body.toBytes();
        write(type, id, bytes, bytes.length);
        return HEADER_BYTES + bytes.length;
    }

    private synchronized void write(int type, int id, byte[] body, int length) {
        ByteBuffer frame = ByteBuffer.allocate(HEADER_BYTES + length);
        frame.putInt(length + 5).put((byte) type).putInt(id).put(body, 0, length).flip();
        try {
            while (frame.hasRemaining()) channel.write(frame);
        } catch (IOException error) {
            throw new ConnectionLostException(error);
        }
    }
}
