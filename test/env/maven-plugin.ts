import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, delimiter, join } from 'node:path'
import { type Artifact, cachedJars, fetchFile, resolveJars } from './jars.ts'
import { hasMaven } from './java-toolchain.ts'
import type { Part } from './part.ts'

/** What `weir plugins install` needs to install a plugin from Maven Central. */
export type MavenPluginAddress = {
  /** `GROUP:ARTIFACT:VERSION` of each plugin. */
  readonly plugins: readonly string[]
  /** URL of a repository on this machine that has them. */
  readonly repository: string
  /** Paths of jars that the documentation of the first plugin asks to add to its directory. */
  readonly extraJars: readonly string[]
}

export type MavenPluginOptions = {
  readonly plugins: readonly Artifact[]
  /** Artifacts whose jars are the extra ones, without their dependencies. */
  readonly extras?: readonly Artifact[]
}

/**
 * Plugins from Maven Central. Maven downloads them, because its configuration tells how this machine reaches Maven
 * Central; its local repository, which has each file with its checksum, is then served for `weir plugins install`.
 */
export function mavenPluginPart(name: string, options: MavenPluginOptions): Part<MavenPluginAddress> {
  const { plugins, extras = [] } = options
  const names = plugins.map((artifact) => artifact.slice(1).join('-'))
  const version = plugins[0]![2]
  const extraName = `${name}-extras-${hashOf(extras)}`
  return {
    name,
    version,
    async find() {
      const jars = [...names, ...(extras.length > 0 ? [extraName] : [])]
      const cached = jars.every((one) => cachedJars(one) !== undefined)
      if (!cached && !(await hasMaven())) return { how: 'missing', detail: 'there is no mvn on PATH to fetch the jars' }
      return { how: 'toolchain', detail: 'jars from Maven Central', cached }
    },
    async start() {
      // `weir plugins install` uses the versions that the plugin's own POM manages.
      const paths = await Promise.all(plugins.map((artifact, at) => resolveJars(names[at]!, [artifact], artifact)))
      const extraJars = extras.length === 0 ? [] : await jarsOf(extraName, extras)
      const server = serveRepository(localRepository(paths[0]!, plugins[0]!))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const repository = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      return {
        address: { plugins: plugins.map((artifact) => artifact.join(':')), repository, extraJars },
        async stop() {
          server.closeAllConnections()
          server.close()
        },
      }
    },
  }
}

function hashOf(artifacts: readonly Artifact[]): string {
  return createHash('sha256').update(artifacts.join()).digest('hex').slice(0, 8)
}

async function jarsOf(name: string, artifacts: readonly Artifact[]): Promise<readonly string[]> {
  const files = new Set(artifacts.map(([, artifact, version]) => `${artifact}-${version}.jar`))
  const classpath = await resolveJars(name, artifacts)
  return classpath.split(delimiter).filter((path) => files.has(basename(path)))
}

/** The directory of Maven's local repository, found from the jar of an artifact in it. */
function localRepository(classpath: string, [group, artifact, version]: Artifact): string {
  const directory = `/${group.replaceAll('.', '/')}/${artifact}/${version}/`
  const jar = classpath.split(delimiter).find((path) => path.includes(directory))
  if (jar === undefined) throw new Error(`Maven brought no jar of ${group}:${artifact}:${version}`)
  return jar.slice(0, jar.indexOf(directory))
}

/**
 * Serves Maven's local repository. `weir plugins install` resolves as the build of the plugin does, which can need files
 * that Maven did not download for the class path: Maven downloads these when they are asked for.
 */
function serveRepository(root: string): Server {
  return createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1)
    const file = join(root, path)
    const isFile = () =>
      stat(file).then(
        (stats) => stats.isFile(),
        () => false,
      )
    const send = async () => {
      if (!(await isFile())) await fetchFile(path)
      if (await isFile()) createReadStream(file).pipe(response)
      else response.writeHead(404).end()
    }
    send().catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
}
