package dev.weir.host;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** One plugin location: an uber jar, or a directory of jars and classes. */
final class PluginLocation {
    /** As in discovery. */
    private static final int DEPTH_MAX = 64;

    private final PluginClassLoader loader;

    private PluginLocation(PluginClassLoader loader) {
        this.loader = loader;
    }

    static PluginLocation open(Path location) throws IOException {
        List<URL> urls = new ArrayList<>();
        for (Path jar : jarsOf(location)) urls.add(urlOf(jar));
        if (Files.isDirectory(location)) urls.add(urlOf(location));
        for (Path jar : runtimeJars()) urls.add(urlOf(jar));
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

    /**
     * The jar `connect-runtime`, which is in a directory beside the host's own jar. Some plugins refer to classes of it, because
     * every worker of Kafka Connect has them: Debezium's JDBC sink to `InternalSinkRecord`. It comes last, so that a location that
     * has a copy with its dependencies uses that one.
     */
    private static List<Path> runtimeJars() throws IOException {
        try {
            URI own = PluginLocation.class.getProtectionDomain().getCodeSource().getLocation().toURI();
            Path directory = Path.of(own).resolveSibling("runtime");
            return Files.isDirectory(directory) ? jarsOf(directory) : List.of();
        } catch (URISyntaxException invalid) {
            throw new IOException("the path of the host's jar is invalid", invalid);
        }
    }

    /** Links are followed. What cannot be read, and directories that contain themselves, are left out as in discovery. */
    private static List<Path> jarsOf(Path location) throws IOException {
        if (!Files.isDirectory(location)) return List.of(location);
        List<Path> jars = new ArrayList<>();
        Set<FileVisitOption> options = EnumSet.of(FileVisitOption.FOLLOW_LINKS);
        Files.walkFileTree(location, options, DEPTH_MAX, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                // Opening a named pipe would wait for a writer.
                if (attributes.isRegularFile() && isArchive(file)) jars.add(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException error) {
                return FileVisitResult.CONTINUE;
            }
        });
        jars.sort(null);
        return jars;
    }

    private static boolean isArchive(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        return name.endsWith(".jar") || name.endsWith(".zip");
    }

    private static URL urlOf(Path path) throws MalformedURLException {
        return path.toUri().toURL();
    }
}
