package dev.weir.install;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.collection.DependencyCollectionException;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactDescriptorException;
import org.eclipse.aether.resolution.ArtifactResolutionException;
import org.eclipse.aether.resolution.ArtifactResult;
import org.eclipse.aether.resolution.VersionRangeResolutionException;
import org.eclipse.aether.transfer.ArtifactNotFoundException;
import org.eclipse.aether.transfer.ChecksumFailureException;

/**
 * Downloads a plugin for `weir plugins install`. Standard input has what to install and from where, which may contain
 * passwords; standard output has the progress and the files.
 */
public final class Main {
  private final List<RemoteRepository> repositories = new ArrayList<>();
  private final Messages output = new Messages(System.out);
  private Artifact plugin;
  private Path files;
  private File settings;
  private long retryMs;

  private Main() {}

  public static void main(String[] arguments) throws Exception {
    Main main = new Main();
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null && !line.isEmpty(); line = input.readLine()) {
      main.accept(Messages.parse(line));
    }
    endWith(input);
    try {
      main.install();
    } catch (InstallException error) {
      main.output.write("failed", error.code, error.getMessage());
    } catch (Exception error) {
      InstallException failure = main.failureOf(error);
      main.output.write("failed", failure.code, failure.getMessage());
    }
  }

  /** The command keeps standard input open: this program must not outlive it. */
  private static void endWith(BufferedReader input) {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (input.read() >= 0) continue;
              } catch (IOException ignored) {
                // The command has ended.
              }
              Runtime.getRuntime().halt(1);
            });
    thread.setDaemon(true);
    thread.start();
  }

  private void accept(List<String> words) {
    switch (words.get(0)) {
      case "plugin" -> plugin = new DefaultArtifact(words.get(1), words.get(2), "jar", words.get(3));
      case "files" -> files = Path.of(words.get(1));
      case "settings" -> settings = new File(words.get(1));
      case "retryMs" -> retryMs = Long.parseLong(words.get(1));
      case "repository" -> repositories.add(repository(words.get(1), words.get(2)));
      default -> throw new IllegalArgumentException(words.get(0));
    }
  }

  private static RemoteRepository repository(String id, String address) {
    URI url = URI.create(address);
    String credentials = url.getUserInfo();
    if (credentials == null) return new RemoteRepository.Builder(id, "default", address).build();
    int colon = credentials.indexOf(':');
    String user = colon < 0 ? credentials : credentials.substring(0, colon);
    return new RemoteRepository.Builder(id, "default", address.replaceFirst("//[^/@]*@", "//"))
        .setAuthentication(Settings.authentication(user, colon < 0 ? "" : credentials.substring(colon + 1)))
        .build();
  }

  private void install() throws Exception {
    Settings given = Settings.read(settings);
    try (PluginResolver resolver = new PluginResolver(given, files, retryMs, output)) {
      List<RemoteRepository> all = new ArrayList<>(repositories);
      all.addAll(given.repositories());
      List<Artifact> artifacts = resolver.collect(plugin, resolver.prepare(all));
      output.write("begin", String.valueOf(artifacts.size()));
      for (String name : resolver.provided()) output.write("provided", name);
      for (ArtifactResult result : resolver.download(artifacts)) {
        Artifact artifact = result.getArtifact();
        String from = result.getRepository() instanceof RemoteRepository remote ? remote.getUrl() : "";
        output.write(
            "file",
            PluginResolver.nameOf(artifact),
            artifact.getGroupId(),
            artifact.getPath().toString(),
            from);
      }
      output.write("done");
    }
  }

  /** The first cause that says what a user can change. */
  private InstallException failureOf(Exception error) {
    InstallException checksum = null;
    InstallException missing = null;
    for (Throwable cause : causesOf(error)) {
      if (cause instanceof InstallException known) return known;
      if (cause instanceof ChecksumFailureException failure && checksum == null) {
        checksum = new InstallException("checksum_mismatch", subjectOf(error) + " is not installed: " + describe(failure));
      }
      if (cause instanceof ArtifactNotFoundException absent && missing == null) {
        missing =
            new InstallException(
                "artifact_not_found", addresses(absent.getRepository()) + " has no " + PluginResolver.nameOf(absent.getArtifact()));
      }
    }
    if (checksum != null) return checksum;
    if (missing != null) return missing;
    if (error instanceof VersionRangeResolutionException) return new InstallException("artifact_not_found", error.getMessage());
    return new InstallException("invalid_pom", subjectOf(error) + " cannot be used: " + deepest(error));
  }

  private static String describe(ChecksumFailureException failure) {
    if (failure.getExpected() == null || failure.getExpected().isEmpty()) return "the repository has no checksum of it";
    return "its checksum is " + failure.getActual() + ", and the repository says " + failure.getExpected();
  }

  private String subjectOf(Exception error) {
    for (Throwable cause : causesOf(error)) {
      if (cause instanceof ArtifactDescriptorException descriptor && descriptor.getResult() != null) {
        return "the POM of " + PluginResolver.nameOf(descriptor.getResult().getRequest().getArtifact());
      }
      if (cause instanceof ArtifactResolutionException resolution) {
        for (ArtifactResult result : resolution.getResults()) {
          if (!result.isResolved()) return PluginResolver.nameOf(result.getRequest().getArtifact());
        }
      }
    }
    return PluginResolver.nameOf(plugin);
  }

  private String addresses(RemoteRepository repository) {
    if (repository != null) return repository.getUrl();
    return String.join(", ", repositories.stream().map(RemoteRepository::getUrl).toList());
  }

  private static String deepest(Throwable error) {
    Throwable cause = error;
    while (cause.getCause() != null && cause.getCause() != cause) cause = cause.getCause();
    return cause.getMessage();
  }

  private static Set<Throwable> causesOf(Throwable error) {
    Set<Throwable> found = Collections.newSetFromMap(new IdentityHashMap<>());
    List<Throwable> inOrder = new ArrayList<>();
    Deque<Throwable> open = new ArrayDeque<>(List.of(error));
    while (!open.isEmpty()) {
      Throwable next = open.poll();
      if (next == null || !found.add(next)) continue;
      inOrder.add(next);
      if (next.getCause() != null) open.add(next.getCause());
      open.addAll(List.of(next.getSuppressed()));
      if (next instanceof DependencyCollectionException collection && collection.getResult() != null) {
        open.addAll(collection.getResult().getExceptions());
      }
      if (next instanceof ArtifactDescriptorException descriptor && descriptor.getResult() != null) {
        open.addAll(descriptor.getResult().getExceptions());
      }
      if (next instanceof ArtifactResolutionException resolution) {
        for (ArtifactResult result : resolution.getResults()) open.addAll(result.getExceptions());
      }
    }
    return new java.util.LinkedHashSet<>(inOrder);
  }
}
