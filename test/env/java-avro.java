import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.NameValidator;
import org.apache.avro.Resolver;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/** Apache Avro as a service: a question is posted, its answer comes back, both as JSON. */
class AvroOracle {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int DEPTH_MAX = 6;

  public static void main(String[] args) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
    server.createContext("/", exchange -> {
      byte[] bytes = JSON.writeValueAsBytes(answer(JSON.readTree(exchange.getRequestBody().readAllBytes())));
      exchange.sendResponseHeaders(200, bytes.length);
      exchange.getResponseBody().write(bytes);
      exchange.close();
    });
    server.start();
  }

  private static ObjectNode answer(JsonNode question) {
    ObjectNode answer = JSON.createObjectNode();
    try {
      if (question.has("writer")) compare(question, answer);
      else if (question.has("other")) answer.put("equivalent", equivalent(question));
      else answer.put("printed", parse(question.get("schema"), question).toString());
    } catch (Exception | StackOverflowError error) {
      answer.put("error", error.toString());
    }
    return answer;
  }

  /** As the original registry reads: what is referred to first, into one parser. */
  private static Schema parse(JsonNode text, JsonNode question) {
    boolean strict = question.path("strict").asBoolean(true);
    Schema.Parser parser = new Schema.Parser(strict ? NameValidator.UTF_VALIDATOR : NameValidator.NO_VALIDATION);
    parser.setValidateDefaults(strict);
    for (JsonNode dependency : question.path("dependencies")) parser.parse(dependency.asText());
    return parser.parse(text.asText());
  }

  /** Equal by Avro's own rule, which leaves out documentation, aliases and defaults of enums, and alike in those. */
  private static boolean equivalent(JsonNode question) {
    Schema one = parse(question.get("one"), question);
    Schema other = parse(question.get("other"), question);
    return one.equals(other) && described(one, new HashSet<>()).equals(described(other, new HashSet<>()));
  }

  private static List<Object> described(Schema schema, Set<String> seen) {
    List<Object> all = new ArrayList<>();
    switch (schema.getType()) {
      case RECORD, ENUM, FIXED -> {
        if (!seen.add(schema.getFullName())) return all;
        all.addAll(Arrays.asList(schema.getAliases(), schema.getDoc()));
        if (schema.getType() == Schema.Type.ENUM) all.add(schema.getEnumDefault());
        if (schema.getType() == Schema.Type.RECORD) {
          for (Schema.Field field : schema.getFields()) {
            all.addAll(Arrays.asList(field.aliases(), field.doc(), described(field.schema(), seen)));
          }
        }
      }
      case ARRAY -> all.add(described(schema.getElementType(), seen));
      case MAP -> all.add(described(schema.getValueType(), seen));
      case UNION -> schema.getTypes().forEach(type -> all.add(described(type, seen)));
      default -> { }
    }
    return all;
  }

  private static void compare(JsonNode question, ObjectNode answer) {
    Schema reader = parse(question.get("reader"), question);
    Schema writer = parse(question.get("writer"), question);
    try {
      answer.put("refused", refuses(Resolver.resolve(Schema.applyAliases(writer, reader), reader), new HashSet<>()));
      answer.put("unread", unread(reader, writer, new Random(question.path("seed").asLong()), answer.putArray("resolved")));
    } catch (AvroRuntimeException aliases) {
      answer.putNull("refused").put("unread", aliases.getMessage()); // They make two of one name, or break a default.
    }
    ArrayNode findings = answer.putArray("findings");
    var result = SchemaCompatibility.checkReaderWriterCompatibility(reader, writer).getResult();
    for (var found : result.getIncompatibilities()) {
      findings.addObject()
          .put("type", found.getType().name())
          .put("path", found.getLocation())
          .put("info", found.getMessage());
    }
  }

  /** Whether a reader's plan has a place at which it can only fail. */
  private static boolean refuses(Resolver.Action action, Set<Resolver.Action> seen) {
    if (!seen.add(action)) return false;
    if (action instanceof Resolver.ErrorAction) return true;
    if (action instanceof Resolver.Container container) return refuses(container.elementAction, seen);
    if (action instanceof Resolver.EnumAdjust symbols) return Arrays.stream(symbols.adjustments).anyMatch(at -> at < 0);
    if (action instanceof Resolver.ReaderUnion union) return refuses(union.actualAction, seen);
    if (action instanceof Resolver.WriterUnion union) return Arrays.stream(union.actions).anyMatch(one -> refuses(one, seen));
    if (!(action instanceof Resolver.RecordAdjust record)) return false;
    return Arrays.stream(record.fieldActions).anyMatch(one -> refuses(one, seen));
  }

  /** Why some value of the writer could not be read; null when all could. What is read is written again to `resolved`. */
  private static String unread(Schema reader, Schema writer, Random random, ArrayNode resolved) {
    var datumReader = new GenericDatumReader<Object>(writer, reader);
    for (int round = 0; round < 20; round++) {
      byte[] bytes;
      try {
        bytes = encoded(writer, value(writer, random, 0));
      } catch (StackOverflowError endless) {
        return null; // No value of it ends.
      }
      Object read;
      try {
        read = datumReader.read(null, DecoderFactory.get().binaryDecoder(bytes, null));
      } catch (Exception | StackOverflowError error) {
        return error.toString();
      }
      try {
        String hex = HexFormat.of().formatHex(encoded(reader, read));
        resolved.addObject().put("written", HexFormat.of().formatHex(bytes)).put("read", hex);
      } catch (RuntimeException error) {
        // A default that Java reads and does not write.
      }
    }
    return null;
  }

  private static byte[] encoded(Schema schema, Object value) {
    try {
      var out = new ByteArrayOutputStream();
      BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
      new GenericDatumWriter<Object>(schema).write(value, encoder);
      encoder.flush();
      return out.toByteArray();
    } catch (java.io.IOException error) {
      throw new java.io.UncheckedIOException(error);
    }
  }

  private static Object value(Schema schema, Random random, int depth) {
    switch (schema.getType()) {
      case NULL: return null;
      case BOOLEAN: return random.nextBoolean();
      case INT: return random.nextInt();
      case LONG: return random.nextLong();
      case FLOAT: return random.nextFloat();
      case DOUBLE: return random.nextDouble();
      case STRING: return "text" + random.nextInt(10);
      case BYTES: return ByteBuffer.wrap(new byte[] {65, 66});
      case FIXED: return new GenericData.Fixed(schema, new byte[schema.getFixedSize()]);
      case ENUM: {
        List<String> symbols = schema.getEnumSymbols();
        return new GenericData.EnumSymbol(schema, symbols.get(random.nextInt(symbols.size())));
      }
      case UNION: {
        List<Schema> branches = schema.getTypes();
        return value(branches.get(branchOf(branches, random, depth)), random, depth + 1);
      }
      case ARRAY: {
        List<Object> items = new ArrayList<>();
        for (int left = sizeAt(random, depth); left > 0; left--) items.add(value(schema.getElementType(), random, depth + 1));
        return items;
      }
      case MAP: {
        Map<String, Object> entries = new HashMap<>();
        for (int left = sizeAt(random, depth); left > 0; left--) {
          entries.put("k" + left, value(schema.getValueType(), random, depth + 1));
        }
        return entries;
      }
      default: {
        GenericData.Record record = new GenericData.Record(schema);
        for (Schema.Field field : schema.getFields()) record.put(field.pos(), value(field.schema(), random, depth + 1));
        return record;
      }
    }
  }

  private static int sizeAt(Random random, int depth) {
    return depth > DEPTH_MAX ? 0 : random.nextInt(3);
  }

  /** Deep down, a branch that ends. */
  private static int branchOf(List<Schema> branches, Random random, int depth) {
    if (depth > DEPTH_MAX) {
      for (int at = 0; at < branches.size(); at++) {
        if (branches.get(at).getType() != Schema.Type.RECORD) return at;
      }
    }
    return random.nextInt(branches.size());
  }
}
