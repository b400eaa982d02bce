import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.Charset;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.Security;
import java.sql.DriverManager;
import java.text.NumberFormat;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import javax.xml.parsers.DocumentBuilderFactory;

/** Prints what plugins use of a Java runtime, beyond its base module, and what each gives or throws. */
public final class RuntimeProbe {
    public static void main(String[] arguments) {
        Map<String, Callable<Object>> probes = new LinkedHashMap<>();
        probes.put("default charset", Charset::defaultCharset);
        probes.put("charset of a database", () -> Charset.forName("windows-31j"));
        probes.put("number of a locale", () -> NumberFormat.getInstance(Locale.GERMANY).format(1234.5));
        probes.put("elliptic curves", () -> KeyPairGenerator.getInstance("EC").generateKeyPair().getPublic().getAlgorithm());
        probes.put("trusted authorities", () -> trustedAuthorities() > 50);
        probes.put("SASL", () -> hasProviders("SunSASL", "JdkSASL", "SunJGSS"));
        probes.put("Kerberos", () -> Class.forName("com.sun.security.auth.module.Krb5LoginModule").getSimpleName());
        probes.put("JDBC", () -> DriverManager.getDrivers().hasMoreElements());
        probes.put("JMX", () -> ManagementFactory.getPlatformMBeanServer().getDefaultDomain());
        probes.put("memory of the machine", () -> ((com.sun.management.OperatingSystemMXBean)
            ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize() > 0);
        probes.put("DNS records", () -> ModuleLayer.boot().findModule("jdk.naming.dns").isPresent());
        probes.put("HTTP client", () -> HttpClient.newHttpClient().version());
        probes.put("HTTP server", () -> com.sun.net.httpserver.HttpServer.create().getClass().getSuperclass().getSimpleName());
        probes.put("XML", () -> DocumentBuilderFactory.newInstance().isNamespaceAware());
        probes.put("zip file systems", () -> {
            URI jar = URI.create("jar:" + Path.of(arguments[0]).toUri());
            try (var files = FileSystems.newFileSystem(jar, Map.of())) {
                return files.isReadOnly();
            }
        });
        probes.put("beans", () -> java.beans.Introspector.getBeanInfo(Thread.class).getBeanDescriptor().getName());
        probes.put("Unsafe", () -> Class.forName("sun.misc.Unsafe").getSimpleName());
        probes.put("flight recorder", jdk.jfr.FlightRecorder::isAvailable);
        probes.forEach((name, probe) -> System.out.println(name + ": " + resultOf(probe)));
    }

    private static Object resultOf(Callable<Object> probe) {
        try {
            return probe.call();
        } catch (Exception | LinkageError error) {
            return error;
        }
    }

    private static int trustedAuthorities() throws Exception {
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init((KeyStore) null);
        return ((X509TrustManager) factory.getTrustManagers()[0]).getAcceptedIssuers().length;
    }

    private static boolean hasProviders(String... names) {
        return Arrays.stream(Security.getProviders()).map(provider -> provider.getName()).collect(Collectors.toSet())
            .containsAll(Arrays.asList(names));
    }
}
