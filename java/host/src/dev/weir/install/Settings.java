package dev.weir.install;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.maven.settings.Mirror;
import org.apache.maven.settings.Profile;
import org.apache.maven.settings.Proxy;
import org.apache.maven.settings.Repository;
import org.apache.maven.settings.Server;
import org.apache.maven.settings.building.DefaultSettingsBuilderFactory;
import org.apache.maven.settings.building.DefaultSettingsBuildingRequest;
import org.apache.maven.settings.building.SettingsBuildingException;
import org.apache.maven.settings.crypto.DefaultSettingsDecrypter;
import org.apache.maven.settings.crypto.DefaultSettingsDecryptionRequest;
import org.apache.maven.settings.crypto.SettingsDecryptionResult;
import org.eclipse.aether.repository.Authentication;
import org.eclipse.aether.repository.AuthenticationSelector;
import org.eclipse.aether.repository.MirrorSelector;
import org.eclipse.aether.repository.ProxySelector;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.util.repository.AuthenticationBuilder;
import org.eclipse.aether.util.repository.DefaultAuthenticationSelector;
import org.eclipse.aether.util.repository.DefaultMirrorSelector;
import org.eclipse.aether.util.repository.DefaultProxySelector;
import org.sonatype.plexus.components.cipher.DefaultPlexusCipher;
import org.sonatype.plexus.components.sec.dispatcher.DefaultSecDispatcher;

/** What a settings.xml says about repositories: mirrors, credentials, proxies, and the repositories of active profiles. */
final class Settings {
  private static final String SECURITY = "~/.m2/settings-security.xml";

  private final org.apache.maven.settings.Settings settings;
  private final SettingsDecryptionResult decrypted;

  /** `file` need not exist. */
  static Settings read(File file) {
    try {
      return new Settings(file);
    } catch (SettingsBuildingException error) {
      throw new InstallException("invalid_maven_settings", file + " cannot be used: " + firstLine(error.getMessage()));
    } catch (Exception error) {
      throw new InstallException("invalid_maven_settings", file + " cannot be used: " + error.getMessage());
    }
  }

  private Settings(File file) throws Exception {
    Properties properties = new Properties();
    properties.putAll(System.getProperties());
    System.getenv().forEach((name, value) -> properties.setProperty("env." + name, value));
    settings =
        new DefaultSettingsBuilderFactory()
            .newInstance()
            .build(new DefaultSettingsBuildingRequest().setUserSettingsFile(file).setSystemProperties(properties))
            .getEffectiveSettings();
    DefaultSecDispatcher dispatcher = new DefaultSecDispatcher(new DefaultPlexusCipher());
    dispatcher.setConfigurationFile(SECURITY);
    decrypted = new DefaultSettingsDecrypter(dispatcher).decrypt(new DefaultSettingsDecryptionRequest(settings));
    if (!decrypted.getProblems().isEmpty()) {
      throw new InstallException(
          "invalid_maven_settings", file + ": a password cannot be decrypted: " + decrypted.getProblems().get(0).getMessage());
    }
  }

  MirrorSelector mirrors() {
    DefaultMirrorSelector selector = new DefaultMirrorSelector();
    for (Mirror mirror : settings.getMirrors()) {
      selector.add(
          mirror.getId(),
          mirror.getUrl(),
          mirror.getLayout(),
          false,
          mirror.isBlocked(),
          mirror.getMirrorOf(),
          mirror.getMirrorOfLayouts());
    }
    return selector;
  }

  AuthenticationSelector authentications() {
    DefaultAuthenticationSelector selector = new DefaultAuthenticationSelector();
    for (Server server : decrypted.getServers()) {
      selector.add(server.getId(), authentication(server.getUsername(), server.getPassword()));
    }
    return selector;
  }

  ProxySelector proxies() {
    DefaultProxySelector selector = new DefaultProxySelector();
    for (Proxy proxy : decrypted.getProxies()) {
      if (!proxy.isActive()) continue;
      selector.add(
          new org.eclipse.aether.repository.Proxy(
              proxy.getProtocol(),
              proxy.getHost(),
              proxy.getPort(),
              proxy.getUsername() == null ? null : authentication(proxy.getUsername(), proxy.getPassword())),
          proxy.getNonProxyHosts());
    }
    return selector;
  }

  List<RemoteRepository> repositories() {
    List<RemoteRepository> found = new ArrayList<>();
    for (Profile profile : settings.getProfiles()) {
      boolean isDefault = profile.getActivation() != null && profile.getActivation().isActiveByDefault();
      if (!isDefault && !settings.getActiveProfiles().contains(profile.getId())) continue;
      for (Repository repository : profile.getRepositories()) {
        found.add(new RemoteRepository.Builder(repository.getId(), "default", repository.getUrl()).build());
      }
    }
    return found;
  }

  static Authentication authentication(String user, String password) {
    return new AuthenticationBuilder().addUsername(user).addPassword(password).build();
  }

  private static String firstLine(String message) {
    return message.replaceAll("\\s+", " ").strip();
  }
}
