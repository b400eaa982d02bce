import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../common/errors.ts'
import { limitOwnTime } from '../common/process-times.ts'
import { withTimeout } from '../common/timeout.ts'
import type { HostAddress } from './host-connection.ts'
import { describeExit, type HostExit } from './host-exit.ts'
import type { HostLoggerLevel, HostLogLine } from './host-log.ts'
import { HostOutput } from './host-output.ts'
import { findJava, type JavaRuntime } from './java-runtime.ts'
import type { JavaPluginLocation } from './plugin-location.ts'

export type JavaHostOptions = {
  readonly runtime: JavaRuntime
  readonly location: JavaPluginLocation
  readonly address: HostAddress
  /** How long the JVM may take until it listens, in ms of its own time. */
  readonly startMsMax: number
  /** The levels of loggers that the JVM starts with. Default: INFO. */
  readonly levels?: readonly HostLoggerLevel[]
  readonly onLog: (line: HostLogLine) => void
  /** Called when plugin code does not return, although nobody waits for it. */
  readonly onStuck?: () => void
}

const HOST_JAR = 'weir-java-host.jar'
/** Maximum length of a socket path: less than `sun_path` of Linux and macOS, because Java uses some of its bytes. */
const SOCKET_PATH_BYTES_MAX = 100
const STOP_MS = 5_000
/** How long a JVM may take to print the stacks of its threads, in ms. */
const THREAD_DUMP_MS_MAX = 5_000
const THREAD_DUMP = { begin: /^Full thread dump/, end: /^JNI global ref/ }

/** A JVM that serves the plugins of one location. */
export class JavaHost {
  /** Resolves when the JVM has exited, to the end of a sentence, such as "ended by SIGKILL". */
  readonly ended: Promise<string>
  readonly #child: ChildProcess
  #isEnded = false
  /** The lines of the thread dump that is being printed. */
  #dump: (PromiseWithResolvers<void> & { readonly lines: string[] }) | undefined

  private constructor(child: ChildProcess, ended: Promise<HostExit>, heapMax: string) {
    this.#child = child
    this.ended = ended.then((exit) => {
      this.#isEnded = true
      return describeExit(exit, heapMax)
    })
  }

  /** Resolves when the host listens. Rejects with a `UserError` that states why it does not. */
  static async start(options: JavaHostOptions): Promise<JavaHost> {
    const { runtime, location, address, startMsMax, levels = [], onLog, onStuck } = options
    const java = findJava(runtime)
    checkFiles(runtime, address)
    rmSync(address.socketPath, { force: true })
    const child = spawn(java, javaArguments(runtime, location, address), {
      stdio: ['pipe', 'pipe', 'pipe'],
      // By default, glibc keeps freed native memory in as many pools as there are threads.
      env: { MALLOC_ARENA_MAX: '2', ...process.env },
    })
    const listening = Promise.withResolvers<void>()
    const onLine = (line: HostLogLine) => {
      host.#takeDump(line.message)
      if (line.isListening) return listening.resolve()
      if (line.isStuck) onStuck?.()
      onLog(line)
    }
    const output: HostOutput = new HostOutput({ limits: runtime.log, onLine })
    const host = new JavaHost(child, exitOf(child, output), runtime.heapMax)
    output.follow(child.stdout, 'stdout')
    output.follow(child.stderr, 'stderr')
    // A JVM that has exited does not read its token; the exit is reported below.
    child.stdin.on('error', () => undefined)
    child.stdin.write(`${address.token}\n${levelLines(levels)}`)
    let late: string | undefined
    const endLimit = host.limitOwnTime(startMsMax, 'main', (stack) => {
      late = `was not ready within ${startMsMax} ms of its own time${stack}`
      host.kill()
    })
    try {
      await Promise.race([
        listening.promise,
        host.ended.then((what) => {
          throw startFailure(location, late ?? what)
        }),
      ])
      return host
    } finally {
      endLimit()
    }
  }

  /**
   * Calls `onExceeded` when the JVM had more than `limitMs` of time of its own, with the stack of a thread, to be appended to a
   * sentence. Returns a function that ends the limit.
   */
  limitOwnTime(limitMs: number, thread: string, onExceeded: (stack: string) => void): () => void {
    const { pid } = this.#child
    if (pid === undefined) return () => undefined
    return limitOwnTime(pid, limitMs, () => void this.#stackOf(thread).then(onExceeded))
  }

  /** The JVM prints the stacks of all its threads on SIGQUIT. */
  async #stackOf(thread: string): Promise<string> {
    const dump = { ...Promise.withResolvers<void>(), lines: [] }
    this.#dump = dump
    this.#child.kill('SIGQUIT')
    await withTimeout(Promise.race([dump.promise, this.ended]), THREAD_DUMP_MS_MAX, () => undefined)
    const stack = framesOf(thread, dump.lines)
    return stack === '' ? '' : `; stack of its thread:\n${stack}`
  }

  #takeDump(text: string): void {
    const dump = this.#dump
    if (dump === undefined || (dump.lines.length === 0 && !THREAD_DUMP.begin.test(text))) return
    dump.lines.push(text)
    if (THREAD_DUMP.end.test(text)) dump.resolve()
  }

  setLevels(levels: readonly HostLoggerLevel[]): void {
    this.#child.stdin?.write(levelLines(levels))
  }

  /** Ends the JVM. Its tasks should have been stopped before. */
  async stop(): Promise<void> {
    if (this.#isEnded) return
    this.#child.stdin?.end('stop\n')
    const late = setTimeout(() => this.kill(), STOP_MS)
    await this.ended
    clearTimeout(late)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}

/** Creates an address with a new token. Only this user may have access to `directory`. */
export function hostAddress(directory: string, name: string): HostAddress {
  return { socketPath: join(directory, `${name}.sock`), token: randomBytes(32).toString('hex') }
}

/** The levels in the form that the host reads from its standard input. */
function levelLines(levels: readonly HostLoggerLevel[]): string {
  // A name with a line break or none at all is no logger.
  const lines = levels
    .filter(({ logger }) => /^[^\r\n]+$/.test(logger))
    .map(({ level, logger }) => `${level} ${logger}\n`)
  return `${lines.join('')}\n`
}

function javaArguments(runtime: JavaRuntime, { path }: JavaPluginLocation, { socketPath }: HostAddress): string[] {
  const { hostDirectory, heapMax, options } = runtime
  return [
    ...memoryOptions(options, process.env),
    `-Xmx${heapMax}`,
    '-XX:+ExitOnOutOfMemoryError',
    '-Djava.awt.headless=true',
    ...options,
    '-cp',
    join(hostDirectory, '*'),
    'dev.weir.host.Main',
    socketPath,
    path,
  ]
}

/**
 * A small heap at the start, little free heap after a collection, and the collector that needs the least memory: a worker
 * has a JVM for each location, and by default each would start with a share of the machine's memory. No collector is
 * chosen where the user has chosen one, because Java rejects two.
 */
export function memoryOptions(options: readonly string[], env: NodeJS.ProcessEnv): readonly string[] {
  const chosen = [...options, env['JAVA_TOOL_OPTIONS'] ?? '', env['JDK_JAVA_OPTIONS'] ?? ''].join(' ')
  const collector = /-XX:\+Use\w+GC\b/.test(chosen) ? [] : ['-XX:+UseSerialGC']
  return [...collector, '-XX:InitialRAMPercentage=0.1', '-XX:MinHeapFreeRatio=10', '-XX:MaxHeapFreeRatio=25']
}

function checkFiles({ hostDirectory }: JavaRuntime, { socketPath }: HostAddress): void {
  if (!existsSync(join(hostDirectory, HOST_JAR))) {
    const reason = hostDirectory === '' ? 'java.host.directory is not set' : `${hostDirectory} has no ${HOST_JAR}`
    throw new UserError('java_host_missing', `Java plugins need the Java host of this release: ${reason}`)
  }
  const bytes = Buffer.byteLength(socketPath)
  if (bytes <= SOCKET_PATH_BYTES_MAX) return
  throw new UserError(
    'java_host_failed',
    `the socket of a Java host would be ${socketPath}, which is ${bytes} bytes long; at most ${SOCKET_PATH_BYTES_MAX} ` +
      'are possible: set TMPDIR to a directory with a shorter path',
  )
}

function startFailure({ path }: JavaPluginLocation, what: string): UserError {
  return new UserError('java_host_failed', `the Java host of ${path} did not start: it ${what}`)
}

async function exitOf(child: ChildProcess, output: HostOutput): Promise<HostExit> {
  const ended = once(child, 'close')
  child.once('exit', () => output.end())
  try {
    const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null]
    return { code, signal, lines: output.lastLines }
  } catch (error) {
    output.end()
    return { code: null, signal: null, lines: [...output.lastLines, (error as Error).message] }
  }
}

/** The frames of a thread in a thread dump, one per line, without the lines about locks. */
function framesOf(thread: string, dump: readonly string[]): string {
  const from = dump.findIndex((line) => line.startsWith(`"${thread}" `))
  if (from === -1) return ''
  const end = dump.findIndex((line, at) => at > from && line.trim() === '')
  return dump
    .slice(from + 1, end === -1 ? undefined : end)
    .filter((line) => /^\s+at /.test(line))
    .map((line) => `    ${line.trim()}`)
    .join('\n')
}
