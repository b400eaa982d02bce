import type { SecureContextOptions } from 'node:tls'
import { watchFiles } from '../common/file-watcher.ts'
import type { Logger } from '../common/logging/logger.ts'
import type { TlsSource } from '../tls/tls-material.ts'
import type { TlsReloadableServer } from './server.ts'

/**
 * Serves renewed certificates without a restart: reads the files of the certificates when they change. Existing
 * connections keep their certificate. `onReload` is called after each change.
 */
export function reloadCertificates(
  server: Pick<TlsReloadableServer, 'setCertificates'>,
  source: TlsSource<SecureContextOptions>,
  logger: Logger,
  onReload: () => void = () => {},
): { close(): void } {
  const use = (renewed: SecureContextOptions) => {
    server.setCertificates(renewed)
    onReload()
  }
  return watchFiles({ ...source, use, logger })
}
