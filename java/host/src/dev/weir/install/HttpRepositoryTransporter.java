package dev.weir.install;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Authenticator;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.repository.AuthenticationContext;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.spi.connector.transport.AbstractTransporter;
import org.eclipse.aether.spi.connector.transport.GetTask;
import org.eclipse.aether.spi.connector.transport.PeekTask;
import org.eclipse.aether.spi.connector.transport.PutTask;
import org.eclipse.aether.spi.connector.transport.Transporter;

/**
 * Reads a repository over HTTPS, or over HTTP on this machine. Unlike the transporters of Maven it also checks each redirect,
 * sends the credentials to the repository only, and limits the size of files and the time of requests.
 */
final class HttpRepositoryTransporter extends AbstractTransporter {
  private static final long MEBIBYTE = 1_048_576;
  private static final long TOTAL_BYTES_MAX = 4_096 * MEBIBYTE;
  /** Of one installation: a plugin with 1,000 dependencies needs about 6,000. */
  private static final long REQUESTS_MAX = 50_000;
  private static final int REDIRECTS_MAX = 10;
  private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(60);
  private static final long DOWNLOAD_MS_MAX = 600_000;
  private static final Timer TIMER = new Timer("download limits", true);
  private static final AtomicLong totalBytes = new AtomicLong();
  private static final AtomicLong requests = new AtomicLong();

  private static final class NotFoundException extends IOException {
    private static final long serialVersionUID = 1L;
  }

  /** The server may answer later. */
  private static final class TransientException extends IOException {
    private static final long serialVersionUID = 1L;

    TransientException(String message) {
      super(message);
    }
  }

  private final URI base;
  private final String shown;
  private final String authorization;
  private final HttpClient client;
  private final long retryMs;

  HttpRepositoryTransporter(RepositorySystemSession session, RemoteRepository repository, long retryMs) {
    base = URI.create(repository.getUrl().replaceAll("/*$", "/"));
    shown = repository.getUrl().replaceAll("/*$", "");
    this.retryMs = retryMs;
    if (!isAllowed(base)) {
      throw InstallException.unavailable(shown + " is not a repository: an HTTPS address is expected");
    }
    authorization = credentials(AuthenticationContext.forRepository(session, repository));
    HttpClient.Builder builder =
        HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NEVER).connectTimeout(CONNECT_TIMEOUT);
    if (repository.getProxy() != null) {
      builder.proxy(
          ProxySelector.of(new InetSocketAddress(repository.getProxy().getHost(), repository.getProxy().getPort())));
      try (AuthenticationContext proxy = AuthenticationContext.forProxy(session, repository)) {
        if (proxy != null) builder.authenticator(proxyAuthenticator(proxy));
      }
    }
    client = builder.build();
  }

  @Override
  public int classify(Throwable error) {
    return error instanceof NotFoundException ? Transporter.ERROR_NOT_FOUND : Transporter.ERROR_OTHER;
  }

  @Override
  protected void implPeek(PeekTask task) throws Exception {
    attempt(task.getLocation(), "HEAD", response -> response.body().close());
  }

  @Override
  protected void implGet(GetTask task) throws Exception {
    attempt(
        task.getLocation(),
        "GET",
        response -> {
          InputStream body = new LimitedStream(response.body(), task.getLocation());
          TimerTask limit =
              new TimerTask() {
                @Override
                public void run() {
                  try {
                    response.body().close();
                  } catch (IOException ignored) {
                    // The reader gets an error, too.
                  }
                }
              };
          TIMER.schedule(limit, DOWNLOAD_MS_MAX);
          try {
            utilGet(task, body, true, response.headers().firstValueAsLong("content-length").orElse(-1), false);
          } finally {
            limit.cancel();
          }
        });
  }

  @Override
  protected void implPut(PutTask task) {
    throw new UnsupportedOperationException("plugins are only read");
  }

  @Override
  protected void implClose() {
    // The client has no resources of its own once its requests have ended.
  }

  private interface Use {
    void accept(HttpResponse<InputStream> response) throws Exception;
  }

  /** Requests a file until it is answered. A connection that breaks while the body is read is repeated, too. */
  private void attempt(URI location, String method, Use use) throws Exception {
    long startNanos = System.nanoTime();
    for (long pauseMs = 200; ; pauseMs = Math.min(pauseMs * 2, 5_000)) {
      try {
        use.accept(request(location, method));
        return;
      } catch (NotFoundException error) {
        throw error;
      } catch (IOException error) {
        boolean isLast = (System.nanoTime() - startNanos) / 1_000_000 + pauseMs > retryMs;
        if (isLast) {
          String reason = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
          throw InstallException.unavailable(location + " cannot be read from " + shown + ": " + reason);
        }
        Thread.sleep(pauseMs);
      }
    }
  }

  private HttpResponse<InputStream> request(URI location, String method) throws IOException, InterruptedException {
    URI address = base.resolve(location);
    for (int redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      if (requests.incrementAndGet() > REQUESTS_MAX) {
        throw InstallException.limit("the installation needs more than " + REQUESTS_MAX + " requests");
      }
      HttpRequest.Builder request =
          HttpRequest.newBuilder(address)
              .method(method, HttpRequest.BodyPublishers.noBody())
              .timeout(RESPONSE_TIMEOUT)
              .header("user-agent", "weir");
      boolean isRepository = base.getScheme().equals(address.getScheme()) && base.getAuthority().equals(address.getAuthority());
      if (authorization != null && isRepository) request.header("authorization", authorization);
      HttpResponse<InputStream> response = client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
      int status = response.statusCode();
      if (status >= 200 && status < 300) return response;
      response.body().close();
      String next = response.headers().firstValue("location").orElse(null);
      if (next == null || !REDIRECTS.contains(status)) throw failure(location, status);
      address = redirected(address, next);
    }
    throw InstallException.unavailable(shown + " redirects more than " + REDIRECTS_MAX + " times");
  }

  /** An attacker who can change one response could redirect to another server. */
  private URI redirected(URI from, String location) {
    URI next;
    try {
      next = from.resolve(location);
    } catch (IllegalArgumentException error) {
      throw InstallException.unavailable(shown + " redirects to an address that is not valid");
    }
    if (isAllowed(next)) return next;
    String origin = next.getScheme() + "://" + next.getHost() + (next.getPort() < 0 ? "" : ":" + next.getPort());
    throw InstallException.unavailable(shown + " redirects to " + origin + ", which is not HTTPS");
  }

  private IOException failure(URI location, int status) {
    if (status == 404 || status == 410) return new NotFoundException();
    if (status == 429 || status >= 500) return new TransientException("HTTP status " + status);
    throw InstallException.unavailable(
        location + " cannot be read: " + shown + " answers with HTTP status " + status);
  }

  /** HTTP is allowed on this machine only: whoever changes a file on its way can change its checksum, too. */
  static boolean isAllowed(URI address) {
    String host = address.getHost() == null ? "" : address.getHost();
    boolean isLocal = host.equals("localhost") || host.equals("[::1]") || host.matches("127(\\.\\d+){3}");
    return "https".equalsIgnoreCase(address.getScheme()) && !host.isEmpty()
        || "http".equalsIgnoreCase(address.getScheme()) && isLocal;
  }

  private static String credentials(AuthenticationContext context) {
    if (context == null) return null;
    try (context) {
      String user = context.get(AuthenticationContext.USERNAME);
      String password = context.get(AuthenticationContext.PASSWORD);
      if (user == null) return null;
      byte[] bytes = (user + ":" + (password == null ? "" : password)).getBytes(StandardCharsets.UTF_8);
      return "Basic " + Base64.getEncoder().encodeToString(bytes);
    }
  }

  private static Authenticator proxyAuthenticator(AuthenticationContext context) {
    String user = context.get(AuthenticationContext.USERNAME);
    String password = context.get(AuthenticationContext.PASSWORD);
    return new Authenticator() {
      @Override
      protected PasswordAuthentication getPasswordAuthentication() {
        if (getRequestorType() != RequestorType.PROXY || user == null) return null;
        return new PasswordAuthentication(user, (password == null ? "" : password).toCharArray());
      }
    };
  }

  private static long bytesMax(String path) {
    if (path.matches(".*\\.(sha512|sha256|sha1)")) return 4_096;
    if (path.endsWith(".pom")) return 4 * MEBIBYTE;
    if (path.endsWith(".xml")) return 16 * MEBIBYTE;
    return 1_024 * MEBIBYTE;
  }

  private static final class LimitedStream extends FilterInputStream {
    private final URI location;
    private long left;

    LimitedStream(InputStream stream, URI location) {
      super(stream);
      this.location = location;
      left = bytesMax(location.getPath());
    }

    @Override
    public int read() throws IOException {
      int value = super.read();
      if (value >= 0) count(1);
      return value;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      int read = super.read(bytes, offset, length);
      if (read > 0) count(read);
      return read;
    }

    private void count(int bytes) {
      left -= bytes;
      if (left < 0) {
        throw InstallException.limit(location + " has more than " + bytesMax(location.getPath()) + " bytes");
      }
      if (totalBytes.addAndGet(bytes) > TOTAL_BYTES_MAX) {
        throw InstallException.limit("the files have more than " + TOTAL_BYTES_MAX + " bytes");
      }
    }
  }
}
