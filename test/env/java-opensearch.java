import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** A node of OpenSearch from the jars of Maven Central. Arguments: directory, HTTP port, transport port. */
class JavaOpenSearch {
  /** Only subclasses can choose plugins that are not installed. */
  static class EmbeddedNode extends Node {
    EmbeddedNode(Environment environment) {
      super(environment, List.of(Netty4Plugin.class), false);
    }
  }

  public static void main(String[] args) throws Exception {
    Settings settings =
        Settings.builder()
            .put("path.home", args[0])
            .put("cluster.name", "weir")
            .put("node.name", "node")
            .put("discovery.type", "single-node")
            .put("network.host", "127.0.0.1")
            .put("http.port", args[1])
            .put("transport.port", args[2])
            .put("http.type", "netty4")
            .put("transport.type", "netty4")
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
    new EmbeddedNode(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "node")).start();
    Thread.currentThread().join();
  }
}
