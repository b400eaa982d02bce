import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;

/** Prints the settings of Kafka's producer, consumer and admin client as JSON. */
class ClientSettings {
  public static void main(String[] args) {
    Map<String, ConfigDef> clients = new LinkedHashMap<>();
    clients.put("producer", ProducerConfig.configDef());
    clients.put("consumer", ConsumerConfig.configDef());
    clients.put("admin", AdminClientConfig.configDef());
    StringBuilder json = new StringBuilder("{");
    clients.forEach((client, definition) -> {
      json.append(json.length() == 1 ? "" : ",").append('"').append(client).append("\":[");
      String names = String.join("\",\"", new TreeSet<>(definition.names()));
      json.append('"').append(names).append("\"]");
    });
    System.out.println(json.append('}'));
  }
}
