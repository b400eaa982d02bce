import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { messageOf, UserError } from '../../common/errors.ts'
import { describeExit } from '../host-exit.ts'
import { memoryOptions } from '../java-host.ts'
import { findJava } from '../java-runtime.ts'
import type { Coordinates } from './coordinates.ts'
import { InstallError, type InstallErrorCode } from './install-error.ts'

export type PluginResolverOptions = {
  /** `java.home`; empty: `JAVA_HOME`, else `java` on `PATH`. */
  readonly javaHome: string
  /** The directory of the Java host, which contains Apache Maven Resolver. */
  readonly hostDirectory: string
  /** Asked in this order, before those of the settings and of POMs. */
  readonly repositories: readonly MavenRepository[]
  /** A `settings.xml`, which need not exist. */
  readonly settingsFile: string
  /** How long a server that is unavailable is retried, in ms. */
  readonly retryMs?: number
}

export type MavenRepository = {
  /** Settings name a repository by its ID. */
  readonly id: string
  /** With user and password, if the repository needs them and the settings have none. */
  readonly url: string
}

/** Reports the progress of an installation. */
export type InstallProgress = {
  /** `count` files are about to be downloaded. */
  begin(count: number): void
  /** More bytes of a file were received. */
  received(bytes: number): void
  downloaded(): void
}

export type ResolvedFile = {
  /** `GROUP:ARTIFACT:VERSION`, with extension and classifier if it is not the main jar. */
  readonly artifact: string
  readonly group: string
  /** Where it was downloaded to. */
  readonly path: string
  /** URL of the repository that has it. */
  readonly repository: string
}

export type Resolution = {
  /** The plugin itself first, then its dependencies. */
  readonly files: readonly ResolvedFile[]
  /** Dependencies that the Java host provides, `GROUP:ARTIFACT`. */
  readonly provided: readonly string[]
}

const HEAP = '512m'
const RETRY_MS = 20_000
const OUTPUT_LINES = 20

/**
 * Downloads plugins with their runtime dependencies by Apache Maven Resolver, which runs in a JVM (`java/host`, package
 * `dev.weir.install`). It verifies each file, and rejects what `docs/java-plugins.md` lists.
 */
export class PluginResolver {
  readonly #options: PluginResolverOptions

  constructor(options: PluginResolverOptions) {
    this.#options = options
  }

  /** Downloads into `directory`. Rejects with a `UserError`. */
  async download(plugin: Coordinates, directory: string, progress: InstallProgress): Promise<Resolution> {
    const child = this.#start()
    const errors: string[] = []
    createInterface(child.stderr).on('line', (line) => {
      errors.push(line)
      if (errors.length > OUTPUT_LINES) errors.shift()
    })
    child.stdin.on('error', () => undefined)
    child.stdin.write(this.#request(plugin, directory))
    const exit = once(child, 'exit').then(
      ([code, signal]) => ({ code, signal }) as { code: number | null; signal: string | null },
      (error: unknown) => {
        errors.push(messageOf(error))
        return { code: null, signal: null }
      },
    )
    try {
      const resolution = await readResolution(child, progress)
      if (resolution !== undefined) return resolution
      const what = describeExit({ ...(await exit), lines: errors }, HEAP)
      throw new UserError('java_host_failed', `the JVM that downloads plugins ${what}`)
    } finally {
      child.kill('SIGKILL')
    }
  }

  #start(): ChildProcessWithoutNullStreams {
    const { javaHome, hostDirectory } = this.#options
    const java = findJava({ home: javaHome })
    const classpath = [join(hostDirectory, 'resolver', '*'), join(hostDirectory, 'weir-java-host.jar')]
    if (!existsSync(join(hostDirectory, 'resolver')) || !existsSync(classpath[1]!)) {
      throw new UserError(
        'java_host_missing',
        `Java plugins need the Java host of this release: ${hostDirectory} does not contain it`,
      )
    }
    return spawn(java, [
      ...memoryOptions([], process.env),
      `-Xmx${HEAP}`,
      '-XX:+ExitOnOutOfMemoryError',
      '-XX:TieredStopAtLevel=1',
      // By default, Java sends no password to a proxy for HTTPS.
      '-Djdk.http.auth.tunneling.disabledSchemes=',
      '-Dslf4j.internal.verbosity=ERROR',
      '-cp',
      classpath.join(delimiter),
      'dev.weir.install.Main',
    ])
  }

  /** Passed on standard input, because other users of the machine can read the arguments of a process. */
  #request({ group, artifact, version }: Coordinates, directory: string): string {
    const { repositories, settingsFile, retryMs = RETRY_MS } = this.#options
    const lines = [
      ['plugin', group, artifact, version],
      ['files', directory],
      ['settings', settingsFile],
      ['retryMs', String(retryMs)],
      ...repositories.map(({ id, url }) => ['repository', id, url]),
    ]
    return `${lines.map((words) => words.map(encodeURIComponent).join(' ')).join('\n')}\n\n`
  }
}

/** Undefined if the JVM ended before it was done. */
async function readResolution(
  child: ChildProcessWithoutNullStreams,
  progress: InstallProgress,
): Promise<Resolution | undefined> {
  const files: ResolvedFile[] = []
  const provided: string[] = []
  for await (const line of createInterface(child.stdout)) {
    const [event, first = '', second = '', third = '', fourth = ''] = line.split(' ').map(decodeWord)
    if (event === 'begin') progress.begin(Number(first))
    else if (event === 'received') progress.received(Number(first))
    else if (event === 'downloaded') progress.downloaded()
    else if (event === 'provided') provided.push(first)
    else if (event === 'file') files.push({ artifact: first, group: second, path: third, repository: fourth })
    else if (event === 'failed') throw new InstallError(first as InstallErrorCode, second)
    else if (event === 'done') return { files, provided }
  }
  return undefined
}

function decodeWord(word: string): string {
  return decodeURIComponent(word.replaceAll('+', ' '))
}
