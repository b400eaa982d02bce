package dev.weir.install;

/** A plugin cannot be installed. The code is one of those in docs/errors.md. */
final class InstallException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  final String code;

  InstallException(String code, String message) {
    super(message);
    this.code = code;
  }

  static InstallException unavailable(String message) {
    return new InstallException("repository_unavailable", message);
  }

  static InstallException limit(String message) {
    return new InstallException("install_limit", message);
  }
}
