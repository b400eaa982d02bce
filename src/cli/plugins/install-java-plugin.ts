import { formatCoordinates, parseCoordinates } from '../../java/maven/coordinates.ts'
import { installPlugin } from '../../java/maven/install-plugin.ts'
import { MavenRepository } from '../../java/maven/maven-repository.ts'
import type { ExitCode } from '../command.ts'
import { createProgressBar } from '../terminal/progress-bar.ts'

export type InstallOptions = {
  /** `GROUP:ARTIFACT:VERSION`. */
  readonly plugin: string
  readonly repository: string
  readonly pluginPath: string
}

/** `weir plugins install`. Rejects with a `UserError`. */
export async function installJavaPlugin({ plugin, repository, pluginPath }: InstallOptions): Promise<ExitCode> {
  const coordinates = parseCoordinates(plugin)
  const source = new MavenRepository(repository)
  const bar = createProgressBar(process.stderr)
  try {
    const { directory, files, bytes, isUnchanged } = await installPlugin(coordinates, source, pluginPath, {
      begin: (count) => bar.begin('downloading', count),
      downloaded: () => bar.step(),
    })
    bar.end()
    const size = `${files} ${files === 1 ? 'file' : 'files'}, ${(bytes / 1_048_576).toFixed(1)} MiB`
    const outcome = isUnchanged ? 'is installed already' : 'is installed'
    process.stdout.write(`${formatCoordinates(coordinates)} ${outcome} in ${directory}: ${size}\n`)
    return 0
  } finally {
    bar.end()
  }
}
