import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;
import org.apache.kafka.connect.storage.StringConverter;
import org.apache.kafka.connect.transforms.InsertHeader;

/** Prints which header InsertHeader makes of each literal, and how three header converters write it. */
class HeaderOracle {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final List<String> LITERALS = List.of(
      "[1, \"a\"]", "[1,true]", "[1, null]", "[null]", "[true, \"x\", 3]", "[1.5,\"a\"]", "[\"a\",[1]]", "[]", "[[],[1]]",
      "[1,99999999999999999999]", "{\"a\":1,\"b\":\"x\"}", "{\"a\":[1,\"b\"]}", "{\"a\":null}", "{\"a\":null,\"b\":1}",
      "{1:2,\"a\":3}", "{}", "[[1],[\"a\"]]", "[{\"a\":1},{\"b\":\"x\"}]", "[1,2,", "{a:1}", "text");

  public static void main(String[] args) throws Exception {
    JsonConverter json = new JsonConverter();
    json.configure(Map.of("schemas.enable", "true"), false);
    List<String> lines = new ArrayList<>();
    for (String literal : LITERALS) {
      Header header = inserted(literal);
      ObjectNode line = MAPPER.createObjectNode();
      line.put("literal", literal);
      line.set("schema", shown(header.schema()));
      line.put("simple", written(new SimpleHeaderConverter(), header));
      line.put("string", written(new StringConverter(), header));
      try {
        line.put("json", written(json, header));
      } catch (RuntimeException error) {
        line.put("jsonError", error.getClass().getSimpleName());
      }
      lines.add(MAPPER.writeValueAsString(line));
    }
    System.out.println("[\n" + String.join(",\n", lines) + "\n]");
  }

  private static Header inserted(String literal) {
    InsertHeader<SourceRecord> transform = new InsertHeader<>();
    transform.configure(Map.of("header", "h", "value.literal", literal));
    return transform.apply(new SourceRecord(Map.of(), Map.of(), "t", null, null)).headers().lastWithName("h");
  }

  private static String written(HeaderConverter converter, Header header) {
    return new String(converter.fromConnectHeader("t", header.key(), header.schema(), header.value()));
  }

  private static JsonNode shown(Schema schema) {
    if (schema == null) return NullNode.instance;
    ObjectNode json = MAPPER.createObjectNode().put("type", schema.type().getName());
    if (schema.type() == Schema.Type.ARRAY) json.set("items", shown(schema.valueSchema()));
    if (schema.type() == Schema.Type.MAP) {
      json.set("keys", shown(schema.keySchema()));
      json.set("values", shown(schema.valueSchema()));
    }
    return json;
  }
}
