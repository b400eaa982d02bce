package dev.weir.host;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** One plugin location: an uber jar, or a directory of jars and classes. */
final class PluginLocation {
    private final PluginClassLoader loader;

    private PluginLocation(PluginClassLoader loader) {
        this.loader = loader;
    }

    static PluginLocation open(Path location) throws IOException {
        List<URL> urls = new ArrayList<>();
        for (Path jar : jarsOf(location)) urls.add(urlOf(jar));
        if (Files.isDirectory(location)) urls.add(urlOf(location));
        PluginClassLoader loader =
            new PluginClassLoader(urls.toArray(URL[]::new), PluginLocation.class.getClassLoader());
        return new PluginLocation(loader);
    }

    ClassLoader loader() {
        return loader;
    }

    /** What the manifest of the jar that a class comes from says, for plugins that say nothing themselves. */
    static String implementationVersion(Class<?> plugin) {
        String version = plugin.getPackage() == null ? null : plugin.getPackage().getImplementationVersion();
        return version == null ? "undefined" : version;
    }

    private static List<Path> jarsOf(Path location) throws IOException {
        if (!Files.isDirectory(location)) return List.of(location);
        try (Stream<Path> files = Files.walk(location, FileVisitOption.FOLLOW_LINKS)) {
            return files.filter((file) -> isArchive(file)).sorted().toList();
        }
    }

    private static boolean isArchive(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        return name.endsWith(".jar") || name.endsWith(".zip");
    }

    private static URL urlOf(Path path) throws MalformedURLException {
        return path.toUri().toURL();
    }
}
