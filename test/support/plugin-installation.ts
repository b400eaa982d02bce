import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseCoordinates } from '../../src/java/maven/coordinates.ts'
import { type Installation, installPlugin, LOCK_FILE } from '../../src/java/maven/install-plugin.ts'
import {
  type InstallProgress,
  PluginResolver,
  type PluginResolverOptions,
} from '../../src/java/maven/plugin-resolver.ts'

export const SILENT: InstallProgress = {
  begin: () => undefined,
  received: () => undefined,
  downloaded: () => undefined,
}

export type InstallOptions = Pick<PluginResolverOptions, 'repositories'> & Partial<PluginResolverOptions>

/** Installs a plugin without the settings of the user, and without repeating requests. */
export function installTestPlugin(
  options: InstallOptions & Pick<PluginResolverOptions, 'hostDirectory'>,
  plugin: string,
  path: string,
  progress = SILENT,
): Promise<Installation> {
  const resolver = new PluginResolver({ javaHome: '', settingsFile: '/no/settings.xml', retryMs: 0, ...options })
  return installPlugin(parseCoordinates(plugin), resolver, path, progress)
}

export type LockedFile = { readonly file: string; readonly artifact: string; readonly repository: string }

/** The files that the lock of an installation records. */
export async function lockedFiles(installing: Promise<Installation>): Promise<readonly LockedFile[]> {
  const { directory } = await installing
  const lock = JSON.parse(readFileSync(join(directory, LOCK_FILE), 'utf8')) as { readonly files: readonly LockedFile[] }
  return lock.files
}
