import { type Coordinates, formatCoordinates, parseCoordinates } from '../../java/maven/coordinates.ts'
import { installPlugin } from '../../java/maven/install-plugin.ts'
import { MavenRepository } from '../../java/maven/maven-repository.ts'
import type { ExitCode } from '../command.ts'
import { createProgressBar, formatMebibytes } from '../terminal/progress-bar.ts'

export type InstallOptions = {
  /** Each `GROUP:ARTIFACT:VERSION`. */
  readonly plugins: readonly string[]
  readonly repository: string
  readonly pluginPath: string
}

/**
 * `weir plugins install`: installs the plugins in order. Rejects with a `UserError` at the first one that cannot be
 * installed; those before it stay installed.
 */
export async function installJavaPlugins({ plugins, repository, pluginPath }: InstallOptions): Promise<ExitCode> {
  const all = plugins.map(parseCoordinates)
  const source = new MavenRepository(repository)
  for (const coordinates of all) await install(coordinates, source, pluginPath)
  return 0
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
