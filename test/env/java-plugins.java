import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Kafka Connect's and Debezium's plugins as a service: a list of cases is posted, what the classes make of them comes back. */
class PluginOracle {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String PACKAGE = "org.apache.kafka.connect.";

  public static void main(String[] args) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
    server.createContext("/", exchange -> {
      ArrayNode answers = MAPPER.createArrayNode();
      for (JsonNode asked : MAPPER.readTree(exchange.getRequestBody().readAllBytes())) answers.add(answer((ObjectNode) asked));
      byte[] bytes = MAPPER.writeValueAsBytes(answers);
      exchange.sendResponseHeaders(200, bytes.length);
      exchange.getResponseBody().write(bytes);
      exchange.close();
    });
    server.start();
  }

  private static JsonNode answer(ObjectNode asked) {
    ObjectNode told = MAPPER.createObjectNode();
    try {
      if (asked.has("record")) told.set("out", transform(asked));
      else if (asked.has("header")) header(bytes(asked.get("header").asText()), told);
      else if (asked.has("json")) json(asked, told);
      else convert(asked, told);
    } catch (Exception error) {
      told.put("exception", error.getClass().getName());
      told.put("error", error.getMessage());
    }
    return told;
  }

  private static Map<String, String> config(JsonNode asked) {
    Map<String, String> config = new HashMap<>();
    for (var entry : asked.path("config").properties()) config.put(entry.getKey(), entry.getValue().asText());
    return config;
  }

  private static Object plugin(JsonNode asked) throws Exception {
    String name = asked.get("class").asText();
    return Class.forName(name.startsWith("io.") ? name : PACKAGE + name).getDeclaredConstructor().newInstance();
  }

  @SuppressWarnings("unchecked")
  private static <R extends ConnectRecord<R>> JsonNode transform(ObjectNode asked) throws Exception {
    Object plugin = plugin(asked);
    R record = (R) read(asked.get("record"));
    if (plugin instanceof Predicate) {
      ((Predicate<R>) plugin).configure(config(asked));
      return MAPPER.getNodeFactory().booleanNode(((Predicate<R>) plugin).test(record));
    }
    ((Transformation<R>) plugin).configure(config(asked));
    R changed = ((Transformation<R>) plugin).apply(record);
    return changed == null ? MAPPER.nullNode() : write(changed, asked.get("record"));
  }

  /** A converter reads bytes, or writes a side. */
  private static void convert(ObjectNode asked, ObjectNode told) throws Exception {
    Converter converter = (Converter) plugin(asked);
    converter.configure(config(asked), asked.path("isKey").asBoolean());
    if (asked.has("side")) {
      SchemaAndValue given = side(asked.get("side"));
      byte[] out = converter.fromConnectData("t", given.schema(), given.value());
      told.put("bytes", out == null ? null : HexFormat.of().formatHex(out));
      return;
    }
    JsonNode hex = asked.get("bytes");
    SchemaAndValue read = converter.toConnectData("t", hex.isNull() ? null : HexFormat.of().parseHex(hex.asText()));
    told.set("schema", MAPPER.readTree(jsonConverter(true).fromConnectData("t", read.schema(), read.value())).get("schema"));
    told.put("javaText", shown(read.value()));
  }

  private static void json(ObjectNode asked, ObjectNode told) {
    Map<String, String> config = config(asked);
    config.putIfAbsent("schemas.enable", "true");
    JsonConverter converter = new JsonConverter();
    converter.configure(config, false);
    SchemaAndValue read = converter.toConnectData("t", bytes(asked.get("json").asText()));
    told.put("javaText", shown(read.value()));
    told.put("out", text(converter.fromConnectData("t", read.schema(), read.value())));
  }

  private static void header(byte[] bytes, ObjectNode told) {
    SimpleHeaderConverter converter = new SimpleHeaderConverter();
    converter.configure(new HashMap<>());
    SchemaAndValue read = converter.toConnectHeader("t", "k", bytes);
    told.set("schema", describe(read.schema()));
    told.put("javaText", shown(read.value()));
    told.put("out", text(converter.fromConnectHeader("t", "k", read.schema(), read.value())));
  }

  private static JsonNode describe(Schema schema) {
    if (schema == null) return null;
    ObjectNode told = MAPPER.createObjectNode();
    told.put("type", schema.type().getName());
    if (schema.name() != null) told.put("name", schema.name());
    if (schema.type() == Schema.Type.ARRAY) told.set("items", describe(schema.valueSchema()));
    if (schema.type() == Schema.Type.MAP) {
      told.set("keys", describe(schema.keySchema()));
      told.set("values", describe(schema.valueSchema()));
    }
    return told;
  }

  private static ConnectRecord<?> read(JsonNode record) {
    SchemaAndValue key = side(record.get("key"));
    SchemaAndValue value = side(record.get("value"));
    ConnectHeaders headers = new ConnectHeaders();
    for (JsonNode header : record.get("headers")) headers.add(header.get("key").asText(), side(header.get("value")));
    Integer partition = record.hasNonNull("partition") ? record.get("partition").asInt() : null;
    Long timestamp = record.hasNonNull("timestampMs") ? record.get("timestampMs").asLong() : null;
    String topic = record.get("topic").asText();
    if (!record.has("offset")) {
      return new SourceRecord(Map.of(), Map.of(), topic, partition, key.schema(), key.value(), value.schema(),
          value.value(), timestamp, headers);
    }
    return new SinkRecord(topic, partition, key.schema(), key.value(), value.schema(), value.value(),
        record.get("offset").asLong(), timestamp, TimestampType.CREATE_TIME, headers);
  }

  /** Of a record's members, those that are not as they were. */
  private static JsonNode write(ConnectRecord<?> record, JsonNode before) throws Exception {
    ObjectNode told = MAPPER.createObjectNode();
    told.put("topic", record.topic());
    told.put("partition", record.kafkaPartition());
    told.put("timestampMs", record.timestamp());
    told.set("key", told(record.keySchema(), record.key()));
    told.set("value", told(record.valueSchema(), record.value()));
    ArrayNode headers = told.putArray("headers");
    for (Header header : record.headers()) {
      headers.addObject().put("key", header.key()).set("value", told(header.schema(), header.value()));
    }
    told.properties().removeIf(member -> member.getValue().equals(before.get(member.getKey())));
    return told;
  }

  /** An envelope with a schema, or {"plain": text} without. */
  private static SchemaAndValue side(JsonNode node) {
    if (node == null || node.isNull()) return SchemaAndValue.NULL;
    boolean isPlain = node.has("plain");
    JsonNode text = isPlain ? node.get("plain") : node;
    return jsonConverter(!isPlain).toConnectData("t", bytes(text.toString()));
  }

  private static JsonNode told(Schema schema, Object value) throws Exception {
    if (schema == null && value == null) return MAPPER.nullNode();
    if (schema == null && value instanceof java.util.Date) {
      return MAPPER.createObjectNode().put("date", ((java.util.Date) value).getTime());
    }
    byte[] text = jsonConverter(schema != null).fromConnectData("t", schema, value);
    JsonNode read = MAPPER.readTree(text);
    return schema != null ? read : MAPPER.createObjectNode().set("plain", read);
  }

  private static JsonConverter jsonConverter(boolean schemas) {
    JsonConverter converter = new JsonConverter();
    converter.configure(
        Map.of("schemas.enable", String.valueOf(schemas), "replace.null.with.default", "false",
            "decimal.format", "NUMERIC"), false);
    return converter;
  }

  /** As Java shows it, which tells nothing of bytes: base64, and null where they are within. */
  private static String shown(Object value) {
    if (value instanceof byte[] bytes) return Base64.getEncoder().encodeToString(bytes);
    String text = String.valueOf(value);
    return text.contains("[B@") ? null : text;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }
}
