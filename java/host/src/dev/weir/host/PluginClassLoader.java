package dev.weir.host;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Loads a class from the plugin's own jars first, as Kafka Connect does, so that a plugin brings the versions of its
 * libraries. What plugins and the host exchange comes from the host: the Connect API, the clients' common types, SLF4J.
 */
final class PluginClassLoader extends URLClassLoader {
    static {
        ClassLoader.registerAsParallelCapable();
    }

    private static final Pattern SHARED = Pattern.compile(
        "(?:java|javax\\.(?:management|naming|net|script|security|sql|xml|crypto))\\..*"
            + "|org\\.(?:xml\\.sax|w3c\\.dom)\\..*"
            + "|org\\.slf4j\\.[^.]+|org\\.slf4j\\.(?:event|helpers|spi)\\..*"
            + "|org\\.apache\\.kafka\\..*|dev\\.weir\\.host\\..*");
    /** Parts of Kafka that are plugins themselves, and so may come from a plugin's jars. */
    private static final Pattern PLUGIN_OF_KAFKA = Pattern.compile(
        "org\\.apache\\.kafka\\.common\\.config\\.provider\\.(?!ConfigProvider$).*"
            + "|org\\.apache\\.kafka\\.connect\\.(?:transforms\\.(?!Transformation$|predicates\\.Predicate$).*"
            + "|json\\..*|file\\..*|mirror\\..*|mirror-client\\..*|converters\\..*"
            + "|storage\\.(?:StringConverter|SimpleHeaderConverter)"
            + "|tools\\..*)");

    private static final String SERVICES = "META-INF/services/";

    PluginClassLoader(URL[] jars, ClassLoader parent) {
        super(jars, parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded == null && isOfPlugin(name)) loaded = findOwnClass(name);
            if (loaded == null) return super.loadClass(name, resolve);
            if (resolve) resolveClass(loaded);
            return loaded;
        }
    }

    @Override
    public URL getResource(String name) {
        URL own = findResource(name);
        return own != null ? own : super.getResource(name);
    }

    /** The plugin's own resources first, as in Kafka Connect. */
    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
        List<URL> resources = Collections.list(findResources(name));
        if (!isOwnService(name)) resources.addAll(Collections.list(getParent().getResources(name)));
        return Collections.enumeration(resources);
    }

    /**
     * Whether the plugin has the interface of this service itself. Providers of the host do not implement that one, and would be
     * an error to `ServiceLoader`: the host has a module for its Jackson, and plugins that have their own Jackson look for modules.
     */
    private boolean isOwnService(String resource) {
        if (!resource.startsWith(SERVICES)) return false;
        try {
            return loadClass(resource.substring(SERVICES.length())).getClassLoader() == this;
        } catch (ClassNotFoundException | LinkageError unknown) {
            return false;
        }
    }

    private static boolean isOfPlugin(String name) {
        return !SHARED.matcher(name).matches() || PLUGIN_OF_KAFKA.matcher(name).matches();
    }

    private Class<?> findOwnClass(String name) {
        try {
            return findClass(name);
        } catch (ClassNotFoundException notOwn) {
            return null;
        }
    }
}
