import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.debezium.connector.postgresql.PostgresConnectorTask;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTaskContext;
import org.apache.kafka.connect.storage.OffsetStorageReader;

/**
 * Runs the task of Debezium's PostgreSQL connector without Kafka, and prints each record as a line of JSON, until standard
 * input ends. The argument is a file with the configuration.
 */
class DebeziumRecorder {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final JsonConverter SCHEMAS = converter("true");
  private static final JsonConverter PAYLOADS = converter("false");

  public static void main(String[] args) throws Exception {
    Map<String, String> config = new HashMap<>();
    MAPPER.readTree(Files.readString(Path.of(args[0]))).properties()
        .forEach(entry -> config.put(entry.getKey(), entry.getValue().asText()));
    PostgresConnectorTask task = new PostgresConnectorTask();
    task.initialize(context(config));
    task.start(config);
    Thread main = Thread.currentThread();
    boolean[] isOver = {false};
    Thread input = new Thread(() -> {
      try {
        while (System.in.read() >= 0) continue;
      } catch (java.io.IOException error) {
        // The other side ended.
      }
      isOver[0] = true;
      main.interrupt();
    });
    input.setDaemon(true);
    input.start();
    try {
      while (!isOver[0]) {
        List<SourceRecord> records = task.poll();
        if (records == null) continue;
        for (SourceRecord record : records) {
          System.out.println(MAPPER.writeValueAsString(shown(record)));
          task.commitRecord(record, null);
        }
        System.out.flush();
        task.commit();
      }
    } catch (InterruptedException error) {
      // Standard input ended.
    } finally {
      Thread.interrupted();
      task.stop();
    }
    System.exit(0);
  }

  private static ObjectNode shown(SourceRecord record) {
    ObjectNode line = MAPPER.createObjectNode();
    line.put("topic", record.topic());
    line.set("key", shown(record.keySchema(), record.key()));
    line.set("value", shown(record.valueSchema(), record.value()));
    ArrayNode headers = line.putArray("headers");
    for (Header header : record.headers()) {
      headers.addObject().put("key", header.key()).set("value", shown(header.schema(), header.value()));
    }
    line.put("partition", String.valueOf(record.kafkaPartition()));
    line.put("timestamp", String.valueOf(record.timestamp()));
    line.set("sourcePartition", MAPPER.valueToTree(record.sourcePartition()));
    line.set("sourceOffset", MAPPER.valueToTree(record.sourceOffset()));
    return line;
  }

  /** The schema and the value as JsonConverter writes them; null for a record without one. */
  private static ObjectNode shown(Schema schema, Object value) {
    if (schema == null && value == null) return null;
    ObjectNode shown = MAPPER.createObjectNode();
    shown.put("schema", schema == null ? "null" : SCHEMAS.asJsonSchema(schema).toString());
    byte[] payload = PAYLOADS.fromConnectData("t", schema, value);
    shown.put("payload", payload == null ? "null" : new String(payload, StandardCharsets.UTF_8));
    return shown;
  }

  private static JsonConverter converter(String hasSchemas) {
    JsonConverter converter = new JsonConverter();
    converter.configure(Map.of("schemas.enable", hasSchemas, "replace.null.with.default", "false"), false);
    return converter;
  }

  /** The context of a task without stored offsets. */
  private static SourceTaskContext context(Map<String, String> config) {
    OffsetStorageReader offsets = (OffsetStorageReader) Proxy.newProxyInstance(DebeziumRecorder.class.getClassLoader(),
        new Class<?>[] {OffsetStorageReader.class},
        (proxy, method, args) -> method.getName().equals("offsets") ? new HashMap<>() : null);
    return (SourceTaskContext) Proxy.newProxyInstance(DebeziumRecorder.class.getClassLoader(),
        new Class<?>[] {SourceTaskContext.class}, (proxy, method, args) -> switch (method.getName()) {
          case "configs" -> config;
          case "offsetStorageReader" -> offsets;
          default -> null;
        });
  }
}
