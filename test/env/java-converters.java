import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.util.JsonFormat;
import io.confluent.connect.avro.AvroConverter;
import io.confluent.connect.json.JsonSchemaConverter;
import io.confluent.connect.protobuf.ProtobufConverter;
import io.confluent.kafka.schemaregistry.ParsedSchema;
import io.confluent.kafka.schemaregistry.avro.AvroSchema;
import io.confluent.kafka.schemaregistry.avro.AvroSchemaProvider;
import io.confluent.kafka.schemaregistry.client.MockSchemaRegistryClient;
import io.confluent.kafka.schemaregistry.client.SchemaMetadata;
import io.confluent.kafka.schemaregistry.client.SchemaRegistryClient;
import io.confluent.kafka.schemaregistry.client.rest.entities.SchemaReference;
import io.confluent.kafka.schemaregistry.json.JsonSchemaProvider;
import io.confluent.kafka.schemaregistry.protobuf.MessageIndexes;
import io.confluent.kafka.schemaregistry.protobuf.ProtobufSchema;
import io.confluent.kafka.schemaregistry.protobuf.ProtobufSchemaProvider;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.storage.Converter;

/**
 * What Confluent's converters make of the cases of a file, written into that file. A case writes ("given", in JsonConverter's
 * envelope, is registered and written, then read again) or reads ("schema" and "references" of others, with "json" in the
 * format's own JSON). CONTRIBUTING.md says where the classes come from.
 */
class ConverterOracle {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final int ID_LENGTH = 5;
  private static final List<String> ANSWERS = List.of("registered", "imports", "bytes", "read", "error", "readError");

  public static void main(String[] args) throws Exception {
    for (String file : args) {
      ObjectNode asked = (ObjectNode) MAPPER.readTree(Files.readString(Path.of(file)));
      StringBuilder out = new StringBuilder("{\"of\":" + asked.get("of") + ",\"cases\":[\n");
      String between = "";
      for (JsonNode one : asked.get("cases")) {
        out.append(between).append(MAPPER.writeValueAsString(answered((ObjectNode) one)));
        between = ",\n";
      }
      Files.writeString(Path.of(file), out.append("\n]}\n").toString());
    }
    System.exit(0);
  }

  private static ObjectNode answered(ObjectNode asked) {
    asked.remove(ANSWERS);
    try {
      SchemaRegistryClient registry = new MockSchemaRegistryClient(
          List.of(new AvroSchemaProvider(), new JsonSchemaProvider(), new ProtobufSchemaProvider()));
      Converter converter = converter(asked, registry);
      byte[] bytes = asked.has("given") ? write(asked, converter, registry) : foreign(asked, registry);
      if (bytes == null) asked.putNull("bytes");
      else asked.put("bytes", shown(asked, Arrays.copyOfRange(bytes, ID_LENGTH, bytes.length)));
      try {
        asked.put("read", read(converter, bytes));
      } catch (Throwable error) {
        asked.put("readError", told(error));
      }
    } catch (Throwable error) {
      asked.put("error", told(error));
    }
    return asked;
  }

  private static Converter converter(ObjectNode asked, SchemaRegistryClient registry) {
    Converter converter = switch (asked.get("type").asText()) {
      case "AVRO" -> new AvroConverter(registry);
      case "JSON" -> new JsonSchemaConverter(registry);
      default -> new ProtobufConverter(registry);
    };
    Map<String, String> config = new HashMap<>(Map.of("schema.registry.url", "mock://cases"));
    for (var entry : asked.path("config").properties()) config.put(entry.getKey(), entry.getValue().asText());
    converter.configure(config, false);
    return converter;
  }

  private static byte[] write(ObjectNode asked, Converter converter, SchemaRegistryClient registry) throws Exception {
    SchemaAndValue given = envelopes().toConnectData("t", utf8(asked.get("given").toString()));
    byte[] bytes = converter.fromConnectData("t", given.schema(), given.value());
    if (registry.getAllSubjects().contains("t-value")) {
      SchemaMetadata latest = registry.getLatestSchemaMetadata("t-value");
      asked.put("registered", latest.getSchema());
      if (!latest.getReferences().isEmpty()) {
        ArrayNode imports = asked.putArray("imports");
        for (SchemaReference one : latest.getReferences()) imports.add(one.getName());
      }
    }
    return bytes;
  }

  private static byte[] foreign(ObjectNode asked, SchemaRegistryClient registry) throws Exception {
    String type = asked.get("type").asText();
    List<SchemaReference> references = new ArrayList<>();
    for (var one : asked.path("references").properties()) {
      List<SchemaReference> before = List.copyOf(references);
      registry.register(one.getKey(), registry.parseSchema(type, one.getValue().asText(), before).get());
      references.add(new SchemaReference(one.getKey(), one.getKey(), 1));
    }
    ParsedSchema schema = registry.parseSchema(type, asked.get("schema").asText(), references).get();
    int id = registry.register("t-value", schema);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(ByteBuffer.allocate(ID_LENGTH).put((byte) 0).putInt(id).array());
    String json = asked.get("json").toString();
    if (schema instanceof AvroSchema avro) writeAvro(avro, json, out);
    else if (schema instanceof ProtobufSchema proto) writeProtobuf(proto, asked.path("message").asText(null), json, out);
    else out.write(utf8(json));
    return out.toByteArray();
  }

  private static void writeAvro(AvroSchema schema, String json, ByteArrayOutputStream out) throws Exception {
    Object datum = new GenericDatumReader<>(schema.rawSchema())
        .read(null, DecoderFactory.get().jsonDecoder(schema.rawSchema(), json));
    BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(out, null);
    new GenericDatumWriter<>(schema.rawSchema()).write(datum, encoder);
    encoder.flush();
  }

  private static void writeProtobuf(ProtobufSchema whole, String message, String json, ByteArrayOutputStream out)
      throws Exception {
    ProtobufSchema schema = message == null ? whole : whole.copy(message);
    DynamicMessage.Builder builder = DynamicMessage.newBuilder(schema.toDescriptor());
    JsonFormat.parser().merge(json, builder);
    MessageIndexes indexes = schema.toMessageIndexes(schema.toDescriptor().getFullName(), false);
    out.write(indexes.toByteArray());
    builder.build().writeTo(out);
  }

  private static String read(Converter converter, byte[] bytes) {
    SchemaAndValue read = converter.toConnectData("t", bytes);
    byte[] text = envelopes().fromConnectData("t", read.schema(), read.value());
    return text == null ? null : new String(text, StandardCharsets.UTF_8);
  }

  private static JsonConverter envelopes() {
    JsonConverter converter = new JsonConverter();
    converter.configure(Map.of("schemas.enable", "true", "replace.null.with.default", "false"), false);
    return converter;
  }

  /** Of an error, and of what caused it. */
  private static String told(Throwable error) {
    StringBuilder text = new StringBuilder();
    for (Throwable one = error; one != null && text.length() < 400; one = one.getCause()) {
      if (text.length() > 0) text.append(" <- ");
      text.append(one.getClass().getSimpleName()).append(": ").append(one.getMessage());
    }
    return text.length() > 400 ? text.substring(0, 400) : text.toString();
  }

  /** JSON as it is, anything else in hexadecimal digits. */
  private static String shown(ObjectNode asked, byte[] bytes) {
    boolean isText = asked.get("type").asText().equals("JSON");
    return isText ? new String(bytes, StandardCharsets.UTF_8) : HexFormat.of().formatHex(bytes);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
