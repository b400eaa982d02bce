package dev.weir.host;

import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/** One plugin location: an uber jar, or a directory of jars and classes. */
final class PluginLocation {
    private static final String SERVICES = "META-INF/services/";

    private final List<Path> jars;
    private final PluginClassLoader loader;

    private PluginLocation(List<Path> jars, PluginClassLoader loader) {
        this.jars = jars;
        this.loader = loader;
    }

    static PluginLocation open(Path location) throws IOException {
        List<Path> jars = jarsOf(location);
        List<URL> urls = new ArrayList<>();
        for (Path jar : jars) urls.add(urlOf(jar));
        if (Files.isDirectory(location)) urls.add(urlOf(location));
        PluginClassLoader loader =
            new PluginClassLoader(urls.toArray(URL[]::new), PluginLocation.class.getClassLoader());
        return new PluginLocation(jars, loader);
    }

    ClassLoader loader() {
        return loader;
    }

    /**
     * The class names of its plugins by kind, sorted. Service loader manifests name them; with `scan`, classes of jars
     * that no manifest names are found by what they extend and implement.
     *
     * @param faults receives a sentence for each jar that cannot be read
     */
    Map<PluginKind, Set<String>> plugins(boolean scan, List<String> faults) throws IOException {
        Map<PluginKind, Set<String>> found = new TreeMap<>();
        for (PluginKind kind : PluginKind.values()) found.put(kind, manifestNames(kind));
        if (scan) {
            Map<String, ClassFile> classes = new HashMap<>();
            for (Path jar : jars) readClasses(jar, classes, faults);
            for (ClassFile file : classes.values()) {
                if (!file.isConcrete()) continue;
                for (PluginKind kind : PluginKind.values()) {
                    if (inherits(file, kind.type.getName(), classes, new HashSet<>())) {
                        found.get(kind).add(file.name());
                    }
                }
            }
        }
        return found;
    }

    /** What the manifest of the jar that a class comes from says, for plugins that say nothing themselves. */
    static String implementationVersion(Class<?> plugin) {
        String version = plugin.getPackage() == null ? null : plugin.getPackage().getImplementationVersion();
        return version == null ? "undefined" : version;
    }

    /** Only manifests of the location itself: the host's own class path has some, too. */
    private Set<String> manifestNames(PluginKind kind) throws IOException {
        Set<String> names = new LinkedHashSet<>();
        Enumeration<URL> manifests = loader.findResources(SERVICES + kind.type.getName());
        while (manifests.hasMoreElements()) {
            try (InputStream bytes = manifests.nextElement().openStream()) {
                String text = new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
                text.lines().map((line) -> line.replaceFirst("#.*", "").strip()).filter((line) -> !line.isEmpty())
                    .forEach(names::add);
            }
        }
        return names;
    }

    private static void readClasses(Path jar, Map<String, ClassFile> classes, List<String> faults) {
        try (JarFile file = new JarFile(jar.toFile(), false, JarFile.OPEN_READ, Runtime.version())) {
            for (JarEntry entry : (Iterable<JarEntry>) file.versionedStream()::iterator) {
                if (!entry.getName().endsWith(".class") || entry.getName().endsWith("-info.class")) continue;
                try (InputStream bytes = file.getInputStream(entry)) {
                    ClassFile read = ClassFile.read(new java.io.BufferedInputStream(bytes, 1 << 14));
                    classes.putIfAbsent(read.name(), read);
                } catch (IOException damaged) {
                    faults.add(jar + ": " + entry.getName() + " cannot be read: " + damaged.getMessage());
                }
            }
        } catch (IOException damaged) {
            faults.add(jar + " cannot be read as a jar: " + damaged.getMessage());
        }
    }

    private boolean inherits(ClassFile file, String wanted, Map<String, ClassFile> classes, Set<String> seen) {
        for (String supertype : file.supertypes()) {
            if (supertype.equals(wanted)) return true;
            if (!seen.add(supertype)) continue;
            ClassFile inLocation = classes.get(supertype);
            if (inLocation != null ? inherits(inLocation, wanted, classes, seen) : hostClassInherits(supertype, wanted)) {
                return true;
            }
        }
        return false;
    }

    /** A supertype that the location does not have: one of the Connect API, or of the Java library. */
    private static boolean hostClassInherits(String name, String wanted) {
        if (!name.startsWith("org.apache.kafka.")) return false;
        try {
            ClassLoader host = PluginLocation.class.getClassLoader();
            return Class.forName(wanted, false, host).isAssignableFrom(Class.forName(name, false, host));
        } catch (ClassNotFoundException | LinkageError unknown) {
            return false;
        }
    }

    private static List<Path> jarsOf(Path location) throws IOException {
        if (!Files.isDirectory(location)) return List.of(location);
        try (Stream<Path> files = Files.walk(location)) {
            return files.filter((file) -> file.toString().endsWith(".jar")).sorted().toList();
        }
    }

    private static URL urlOf(Path path) throws MalformedURLException {
        return path.toUri().toURL();
    }
}
