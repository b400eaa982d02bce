import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
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
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/**
 * Recorded transforms.golden.json beside it, with Kafka 4.3.1 on Java 17: java -cp "connect-jars/*" RecordTransforms.java.
 * Reads a case a line, as cases.ts makes them; writes what Java's class makes of its record.
 */
public class RecordTransforms {
  static final ObjectMapper MAPPER = new ObjectMapper();
  static final String PACKAGE = "org.apache.kafka.connect.transforms.";

  public static void main(String[] args) throws Exception {
    BufferedReader cases = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = cases.readLine(); line != null; line = cases.readLine()) {
      ObjectNode told = MAPPER.createObjectNode();
      try {
        told.set("out", outcome((ObjectNode) MAPPER.readTree(line)));
      } catch (Exception error) {
        told.put("exception", error.getClass().getName());
        told.put("error", error.getMessage());
      }
      System.out.println(MAPPER.writeValueAsString(told));
    }
  }

  @SuppressWarnings("unchecked")
  static <R extends ConnectRecord<R>> JsonNode outcome(ObjectNode found) throws Exception {
    Map<String, String> config = new HashMap<>();
    found.get("config").fields().forEachRemaining(entry -> config.put(entry.getKey(), entry.getValue().asText()));
    Object plugin = Class.forName(PACKAGE + found.get("class").asText()).getDeclaredConstructor().newInstance();
    R record = (R) read(found.get("record"));
    if (plugin instanceof Predicate) {
      ((Predicate<R>) plugin).configure(config);
      return MAPPER.getNodeFactory().booleanNode(((Predicate<R>) plugin).test(record));
    }
    ((Transformation<R>) plugin).configure(config);
    R changed = ((Transformation<R>) plugin).apply(record);
    return changed == null ? MAPPER.nullNode() : write(changed, found.get("record"));
  }

  static ConnectRecord<?> read(JsonNode record) {
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
  static JsonNode write(ConnectRecord<?> record, JsonNode before) throws Exception {
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
  static SchemaAndValue side(JsonNode node) {
    if (node == null || node.isNull()) return SchemaAndValue.NULL;
    boolean isPlain = node.has("plain");
    JsonNode text = isPlain ? node.get("plain") : node;
    return converter(!isPlain).toConnectData("t", text.toString().getBytes(StandardCharsets.UTF_8));
  }

  static JsonNode told(Schema schema, Object value) throws Exception {
    if (schema == null && value == null) return MAPPER.nullNode();
    if (schema == null && value instanceof java.util.Date) {
      return MAPPER.createObjectNode().put("date", ((java.util.Date) value).getTime());
    }
    byte[] text = converter(schema != null).fromConnectData("t", schema, value);
    JsonNode read = MAPPER.readTree(text);
    return schema != null ? read : MAPPER.createObjectNode().set("plain", read);
  }

  static JsonConverter converter(boolean schemas) {
    JsonConverter converter = new JsonConverter();
    converter.configure(
        Map.of("schemas.enable", String.valueOf(schemas), "replace.null.with.default", "false",
            "decimal.format", "NUMERIC"), false);
    return converter;
  }
}
