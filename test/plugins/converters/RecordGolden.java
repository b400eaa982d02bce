import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;

/**
 * Recorded the *.golden.json files beside it, with Kafka 4.3.1 on Java 17: java -cp "connect-jars/*:." RecordGolden.
 * Reads a case a line: {"text": …} is a header, {"text": …, "config": {…}} a JSON value. Writes what Java makes of it.
 */
public class RecordGolden {
  static final ObjectMapper MAPPER = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    BufferedReader cases = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = cases.readLine(); line != null; line = cases.readLine()) {
      ObjectNode found = (ObjectNode) MAPPER.readTree(line);
      byte[] bytes = found.get("text").asText().getBytes(StandardCharsets.UTF_8);
      try {
        if (found.has("config")) json(found, bytes);
        else header(found, bytes);
      } catch (Exception error) {
        found.put("error", error.getMessage());
      }
      System.out.println(MAPPER.writeValueAsString(found));
    }
  }

  static void json(ObjectNode found, byte[] bytes) {
    Map<String, Object> config = new HashMap<>(Map.of("schemas.enable", "true"));
    found.get("config").fields().forEachRemaining(entry -> config.put(entry.getKey(), entry.getValue().asText()));
    JsonConverter converter = new JsonConverter();
    converter.configure(config, false);
    SchemaAndValue read = converter.toConnectData("t", bytes);
    found.put("javaText", String.valueOf(read.value()));
    byte[] out = converter.fromConnectData("t", read.schema(), read.value());
    found.put("out", out == null ? null : new String(out, StandardCharsets.UTF_8));
  }

  static void header(ObjectNode found, byte[] bytes) {
    SimpleHeaderConverter converter = new SimpleHeaderConverter();
    converter.configure(new HashMap<>());
    SchemaAndValue read = converter.toConnectHeader("t", "k", bytes);
    found.set("schema", describe(read.schema()));
    found.put("javaText", String.valueOf(read.value()));
    byte[] out = converter.fromConnectHeader("t", "k", read.schema(), read.value());
    found.put("out", out == null ? null : new String(out, StandardCharsets.UTF_8));
  }

  static JsonNode describe(Schema schema) {
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
}
