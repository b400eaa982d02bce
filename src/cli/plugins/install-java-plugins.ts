import { UserError } from '../../common/errors.ts'
import { type Coordinates, formatCoordinates, parseCoordinates } from '../../java/maven/coordinates.ts'
import { installPlugin } from '../../java/maven/install-plugin.ts'
import { MavenRepository } from '../../java/maven/maven-repository.ts'
import { type ExitCode, UsageError } from '../command.ts'
import { printableText } from '../terminal/printable-text.ts'
import { createProgressBar, formatMebibytes } from '../terminal/progress-bar.ts'

export type InstallOptions = {
  /** Each `GROUP:ARTIFACT:VERSION`. */
  readonly plugins: readonly string[]
  readonly repository: string
  readonly pluginPath: string
}

/**
 * `weir plugins install`: installs the plugins in order. Rejects with a `UserError` at the first one that cannot be
 * installed; those before it stay installed. Resolves to 3 if the repository is unavailable: it decides whether a plugin exists.
 */
export async function installJavaPlugins({ plugins, repository, pluginPath }: InstallOptions): Promise<ExitCode> {
  const all = plugins.map(parseCoordinates)
  const source = openRepository(repository)
  try {
    for (const coordinates of all) await install(coordinates, source, pluginPath)
    return 0
  } catch (error) {
    if (!isUnavailable(error)) throw error
    process.stderr.write(`weir: ${printableText(error.message, '\n')}\n`)
    return 3
  }
}

function openRepository(address: string): MavenRepository {
  try {
    return new MavenRepository(address)
  } catch (error) {
    if (isUnavailable(error)) throw new UsageError(error.message)
    throw error
  }
}

function isUnavailable(error: unknown): error is UserError {
  return error instanceof UserError && error.code === 'repository_unavailable'
}

async function install(coordinates: Coordinates, source: MavenRepository, pluginPath: string): Promise<void> {
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
