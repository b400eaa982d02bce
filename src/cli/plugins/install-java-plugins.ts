import { type Coordinates, formatCoordinates, MAVEN_CENTRAL, parseCoordinates } from '../../java/maven/coordinates.ts'
import { InstallError } from '../../java/maven/install-error.ts'
import { installPlugin } from '../../java/maven/install-plugin.ts'
import { type MavenRepository, PluginResolver, type PluginResolverOptions } from '../../java/maven/plugin-resolver.ts'
import { type ExitCode, UsageError } from '../command.ts'
import { printableText } from '../terminal/printable-text.ts'
import { createProgressBar, formatMebibytes } from '../terminal/progress-bar.ts'

export type InstallOptions = {
  /** Each `GROUP:ARTIFACT:VERSION`. */
  readonly plugins: readonly string[]
  /** Each `URL` or `ID::URL`. */
  readonly repositories: readonly string[]
  readonly pluginPath: string
} & Omit<PluginResolverOptions, 'repositories'>

/**
 * `weir plugins install`: installs the plugins in order. Rejects with a `UserError` at the first one that cannot be
 * installed; those before it stay installed. Resolves to 3 if the repository is unavailable: it decides whether a plugin exists.
 */
export async function installJavaPlugins(options: InstallOptions): Promise<ExitCode> {
  const { plugins, pluginPath } = options
  const all = plugins.map(parseCoordinates)
  const source = new PluginResolver({ ...options, repositories: options.repositories.map(parseRepository) })
  try {
    for (const coordinates of all) await install(coordinates, source, pluginPath)
    return 0
  } catch (error) {
    if (!isUnavailable(error)) throw error
    process.stderr.write(`weir: ${printableText(error.message, '\n')}\n`)
    return 3
  }
}

/** HTTP is allowed on this machine only: whoever changes a file on its way can change its checksum, too. */
function parseRepository(text: string, at: number): MavenRepository {
  const [, given, address = text] = /^([\w.-]+)::(.+)$/.exec(text) ?? []
  const url = URL.canParse(address) ? new URL(address) : undefined
  const isLocal = url !== undefined && /^(?:localhost|\[::1\]|127(?:\.\d+){3})$/.test(url.hostname)
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isLocal)) {
    // The address may contain a password.
    const shown = url === undefined ? 'it' : `${url.protocol}//${url.host}${url.pathname}`
    throw new UsageError(`${shown} is not a repository: an HTTPS address is expected`)
  }
  const id = given ?? (address === MAVEN_CENTRAL ? 'central' : `repository-${at + 1}`)
  return { id, url: url.href.replace(/\/+$/, '') }
}

function isUnavailable(error: unknown): error is InstallError {
  return error instanceof InstallError && error.code === 'repository_unavailable'
}

async function install(coordinates: Coordinates, source: PluginResolver, pluginPath: string): Promise<void> {
  const name = formatCoordinates(coordinates)
  const bar = createProgressBar(process.stderr)
  try {
    const { directory, files, bytes, isUnchanged } = await installPlugin(coordinates, source, pluginPath, {
      begin(count) {
        // A log, such as that of an init container, has no bar.
        if (!process.stderr.isTTY)
          process.stderr.write(`${name}: downloading ${count} ${count === 1 ? 'file' : 'files'}\n`)
        bar.begin('downloading', count)
      },
      received: (count) => bar.receive(count),
      downloaded: () => bar.step(),
    })
    bar.end()
    const size = `${files} ${files === 1 ? 'file' : 'files'}, ${formatMebibytes(bytes)}`
    const outcome = isUnchanged ? 'is installed already' : 'is installed'
    process.stdout.write(`${name} ${outcome} in ${directory}: ${size}\n`)
  } finally {
    bar.end()
  }
}
