package dev.weir.install;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.nio.file.Path;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.collection.CollectRequest;
import org.eclipse.aether.collection.CollectResult;
import org.eclipse.aether.collection.DependencyCollectionContext;
import org.eclipse.aether.collection.DependencySelector;
import org.eclipse.aether.graph.Dependency;
import org.eclipse.aether.graph.DependencyNode;
import org.eclipse.aether.internal.impl.DefaultLocalPathComposer;
import org.eclipse.aether.internal.impl.LocalPathComposer;
import org.eclipse.aether.metadata.Metadata;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.repository.RepositoryPolicy;
import org.eclipse.aether.resolution.ArtifactDescriptorRequest;
import org.eclipse.aether.resolution.ArtifactDescriptorResult;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResult;
import org.eclipse.aether.spi.connector.transport.TransporterFactory;
import org.eclipse.aether.spi.connector.transport.Transporter;
import org.eclipse.aether.supplier.RepositorySystemSupplier;
import org.eclipse.aether.supplier.SessionBuilderSupplier;
import org.eclipse.aether.transfer.AbstractTransferListener;
import org.eclipse.aether.transfer.TransferEvent;
import org.eclipse.aether.util.artifact.ArtifactIdUtils;
import org.eclipse.aether.util.graph.selector.AndDependencySelector;
import org.eclipse.aether.util.graph.selector.ExclusionDependencySelector;
import org.eclipse.aether.util.graph.version.SnapshotVersionFilter;
import org.eclipse.aether.util.repository.SimpleArtifactDescriptorPolicy;

/**
 * Resolves and downloads a plugin with its runtime dependencies by Apache Maven Resolver. Files are not taken from the local
 * repository of the user, and each needs a checksum.
 */
final class PluginResolver implements AutoCloseable {
  private static final int ARTIFACTS_MAX = 1_000;
  /** What may be part of a path: nothing that leads out of its directory. */
  private static final Pattern PART = Pattern.compile("[A-Za-z0-9_](?:[A-Za-z0-9_.+-]*[A-Za-z0-9_+-])?");
  /** What the class path of the Java host has: a plugin's own copy would never be loaded, or would replace Weir's plugins. */
  private static final Set<String> PROVIDED_BY_HOST =
      Set.of(
          "org.apache.kafka:connect-api",
          "org.apache.kafka:connect-json",
          "org.apache.kafka:connect-transforms",
          "org.apache.kafka:kafka-clients",
          "org.slf4j:slf4j-api");
  private static final RepositoryPolicy RELEASES =
      new RepositoryPolicy(true, RepositoryPolicy.UPDATE_POLICY_ALWAYS, RepositoryPolicy.CHECKSUM_POLICY_FAIL);
  /** A snapshot changes. */
  private static final RepositoryPolicy SNAPSHOTS = new RepositoryPolicy(false, null, null);

  private final RepositorySystem system;
  private final RepositorySystemSession.CloseableSession session;
  private final Set<String> provided = new TreeSet<>();

  /** `files`: a directory for what is downloaded. */
  PluginResolver(Settings settings, Path files, long retryMs, Messages progress) {
    system = new System(retryMs).get();
    session =
        new SessionBuilderSupplier(system)
            .get()
            .withLocalRepositoryBaseDirectories(files)
            .setChecksumPolicy(RepositoryPolicy.CHECKSUM_POLICY_FAIL)
            .setArtifactDescriptorPolicy(new SimpleArtifactDescriptorPolicy(false, false))
            .setMirrorSelector(settings.mirrors())
            .setAuthenticationSelector(settings.authentications())
            .setProxySelector(settings.proxies())
            .setVersionFilter(new SnapshotVersionFilter())
            .setDependencySelector(
                new AndDependencySelector(new ExclusionDependencySelector(), new RuntimeDependencies()))
            .setConfigProperty("aether.layout.maven2.checksumAlgorithms", "SHA-512,SHA-256,SHA-1")
            // A checksum in a header of the response itself verifies nothing.
            .setConfigProperty("aether.connector.smartChecksums", false)
            .setConfigProperty("aether.connector.resumeDownloads", false)
            // Which groups a repository has would be read from a file without a checksum.
            .setConfigProperty("aether.remoteRepositoryFilter.prefixes", false)
            .setConfigProperty("aether.connector.basic.threads", 8)
            .setTransferListener(
                new AbstractTransferListener() {
                  @Override
                  public void transferProgressed(TransferEvent event) {
                    if (event.getResource().getResourceName().endsWith(".jar")) {
                      progress.write("received", String.valueOf(event.getDataBuffer().remaining()));
                    }
                  }

                  @Override
                  public void transferSucceeded(TransferEvent event) {
                    if (event.getResource().getResourceName().endsWith(".jar")) progress.write("downloaded");
                  }
                })
            .build();
  }

  /** The repositories as the settings say: through mirrors and proxies, with credentials. */
  List<RemoteRepository> prepare(List<RemoteRepository> repositories) {
    List<RemoteRepository> releases =
        repositories.stream()
            .map(one -> new RemoteRepository.Builder(one).setReleasePolicy(RELEASES).setSnapshotPolicy(SNAPSHOTS).build())
            .toList();
    List<RemoteRepository> prepared = new ArrayList<>();
    for (RemoteRepository one : system.newResolutionRepositories(session, releases)) {
      boolean isGiven = releases.stream().anyMatch(release -> release.getUrl().equals(one.getUrl()) && release.getAuthentication() != null);
      RemoteRepository given = isGiven ? releases.stream().filter(release -> release.getUrl().equals(one.getUrl())).findFirst().get() : null;
      prepared.add(given == null ? one : new RemoteRepository.Builder(one).setAuthentication(given.getAuthentication()).build());
    }
    return prepared;
  }

  /**
   * The plugin and its dependencies. Versions that the plugin manages apply to all of them, as in its own build, but not the
   * scopes: it may declare a library as provided that is on the class path of Kafka Connect, but not of a Java host.
   */
  List<Artifact> collect(Artifact plugin, List<RemoteRepository> given) throws Exception {
    ArtifactDescriptorResult own =
        system.readArtifactDescriptor(session, new ArtifactDescriptorRequest(plugin, given, null));
    Artifact relocated = own.getArtifact();
    Map<String, RemoteRepository> repositories = new LinkedHashMap<>();
    for (RemoteRepository one : given) repositories.put(one.getId(), one);
    for (RemoteRepository one : prepare(own.getRepositories())) repositories.putIfAbsent(one.getId(), one);
    CollectRequest request = new CollectRequest();
    request.setRootArtifact(relocated);
    request.setRepositories(List.copyOf(repositories.values()));
    request.setDependencies(own.getDependencies());
    request.setManagedDependencies(
        own.getManagedDependencies().stream().map(one -> one.setScope("").setOptional(null)).toList());
    CollectResult result = system.collectDependencies(session, request);
    Map<String, Artifact> artifacts = new LinkedHashMap<>();
    List<DependencyNode> level = result.getRoot().getChildren();
    while (!level.isEmpty()) {
      List<DependencyNode> next = new ArrayList<>();
      for (DependencyNode node : level) {
        artifacts.putIfAbsent(node.getArtifact().toString(), node.getArtifact());
        next.addAll(node.getChildren());
      }
      if (artifacts.size() > ARTIFACTS_MAX) {
        throw InstallException.limit(nameOf(plugin) + " has more than " + ARTIFACTS_MAX + " dependencies");
      }
      level = next;
    }
    List<Artifact> found = new ArrayList<>();
    found.add(relocated);
    artifacts.values().stream()
        .filter(one -> !one.getExtension().equals("pom"))
        .filter(one -> !ArtifactIdUtils.equalsVersionlessId(one, relocated))
        .forEach(found::add);
    downloadFrom = request.getRepositories();
    return found;
  }

  private List<RemoteRepository> downloadFrom = List.of();

  List<ArtifactResult> download(List<Artifact> artifacts) throws Exception {
    List<ArtifactRequest> requests =
        artifacts.stream().map(one -> new ArtifactRequest(one, downloadFrom, null)).toList();
    return system.resolveArtifacts(session, requests);
  }

  Collection<String> provided() {
    return provided;
  }

  @Override
  public void close() {
    session.close();
    system.shutdown();
  }

  static String nameOf(Artifact artifact) {
    String classifier = artifact.getClassifier();
    String extension = artifact.getExtension();
    String file = !classifier.isEmpty() ? extension + ":" + classifier + ":" : extension.equals("jar") ? "" : extension + ":";
    return artifact.getGroupId() + ":" + artifact.getArtifactId() + ":" + file + artifact.getVersion();
  }

  /** Neither optional ones, nor those of other scopes, nor what the Java host has. */
  private final class RuntimeDependencies implements DependencySelector {
    @Override
    public boolean selectDependency(Dependency dependency) {
      String scope = dependency.getScope();
      if (dependency.isOptional() || !(scope.isEmpty() || scope.equals("compile") || scope.equals("runtime"))) return false;
      Artifact artifact = dependency.getArtifact();
      String name = artifact.getGroupId() + ":" + artifact.getArtifactId();
      if (!PROVIDED_BY_HOST.contains(name)) return true;
      synchronized (provided) {
        provided.add(name);
      }
      return false;
    }

    @Override
    public DependencySelector deriveChildSelector(DependencyCollectionContext context) {
      return this;
    }
  }

  /** All files are read by the transporter of this program, and all paths are checked. */
  private static final class System extends RepositorySystemSupplier {
    private final long retryMs;

    System(long retryMs) {
      this.retryMs = retryMs;
    }

    @Override
    protected Map<String, TransporterFactory> createTransporterFactories() {
      return Map.of(
          "http",
          new TransporterFactory() {
            @Override
            public Transporter newInstance(RepositorySystemSession session, RemoteRepository repository) {
              return new HttpRepositoryTransporter(session, repository, retryMs);
            }

            @Override
            public float getPriority() {
              return 1;
            }
          });
    }

    @Override
    protected LocalPathComposer createLocalPathComposer() {
      return new CheckedPaths();
    }
  }

  private static final class CheckedPaths implements LocalPathComposer {
    private final LocalPathComposer maven = new DefaultLocalPathComposer();

    @Override
    public String getPathForArtifact(Artifact artifact, boolean isLocal) {
      String name = nameOf(artifact);
      check(name, artifact.getGroupId(), artifact.getArtifactId(), artifact.getVersion(), artifact.getExtension());
      if (!artifact.getClassifier().isEmpty()) check(name, artifact.getClassifier());
      return maven.getPathForArtifact(artifact, isLocal);
    }

    @Override
    public String getPathForMetadata(Metadata metadata, String repositoryKey) {
      String name = metadata.toString();
      check(name, metadata.getGroupId(), metadata.getArtifactId());
      if (!metadata.getVersion().isEmpty()) check(name, metadata.getVersion());
      return maven.getPathForMetadata(metadata, repositoryKey);
    }

    private static void check(String name, String... parts) {
      for (String part : parts) {
        if (PART.matcher(part).matches() && !part.contains("..")) continue;
        throw new InstallException("invalid_pom", "'" + part + "' of " + name + " is not a Maven name");
      }
    }
  }
}
