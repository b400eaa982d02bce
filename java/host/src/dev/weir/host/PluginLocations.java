package dev.weir.host;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The plugin locations of this JVM, each with a class loader of its own: the one that it was started for, and those that
 * other parts of a pipeline come from. A location is opened once, because its classes may have static state.
 */
final class PluginLocations {
    private final Plugins own;
    private final Map<String, Plugins> opened = new HashMap<>();

    PluginLocations(String path) throws IOException {
        this.own = of(path);
    }

    Plugins own() {
        return own;
    }

    synchronized Plugins of(String path) throws IOException {
        Plugins known = opened.get(path);
        if (known != null) return known;
        Plugins plugins = new Plugins(PluginLocation.open(Path.of(path)));
        opened.put(path, plugins);
        return plugins;
    }
}
