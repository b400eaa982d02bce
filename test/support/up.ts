import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { run, startServer, untilReady } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'
import { until } from './until.ts'

const CLI = join(import.meta.dirname, '../../src/cli/weir.ts')
const READY_TIMEOUT_MS = 30_000
const GRACE_MS = 10_000
const WAIT = { everyMs: 10, timeoutMs: 60_000 }

/** A line of `weir up` in a pipe: what a resource, or a file, has become. */
export type UpLine = {
  readonly kind: string
  readonly name: string
  readonly ready?: string
  readonly reason?: string
  readonly message?: string
  readonly gone?: true
}

export type Up = {
  readonly registryUrl: string
  readonly workerUrl: string
  /** The newest line of a resource. */
  line(kind: string, name: string): UpLine | undefined
  untilLine(kind: string, name: string, isSo: (line: UpLine) => boolean): Promise<UpLine>
  /** SIGINT, as Ctrl-C sends it; how long it took, ms. */
  interrupt(): Promise<{ readonly tookMs: number; readonly exitCode: number | null }>
}

export type UpOptions = {
  readonly manifests: string
  /** `['--bootstrap', 'host:port']` or `['--data', directory]`. */
  readonly log: readonly string[]
  /** Where it is called: relative paths of manifests are seen from there. */
  readonly directory: string
  readonly args?: readonly string[]
}

/** `weir up` as people run it, in a pipe, on free ports. Waits until both runtimes listen. */
export async function startUp(options: UpOptions): Promise<Up> {
  const logFile = join(partDirectory('up'), 'up.log')
  const server = startServer({ file: process.execPath, args: argsOf(options), directory: options.directory }, logFile)
  onTestFinished(() => server.kill())
  const read = () => linesOf(logFile)
  const urlOf = (program: string) =>
    read().find((line) => line['msg'] === 'listening' && line['program'] === program)?.['url'] as string | undefined
  await untilReady(
    server,
    { what: 'weir up', logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS },
    () => urlOf('worker') !== undefined && urlOf('registry') !== undefined,
  )
  const line = (kind: string, name: string) =>
    read().findLast((candidate) => candidate['kind'] === kind && candidate['name'] === name) as UpLine | undefined
  return {
    registryUrl: urlOf('registry')!,
    workerUrl: urlOf('worker')!,
    line,
    async untilLine(kind, name, isSo) {
      let found: UpLine | undefined
      await until(`${kind} ${name}`, WAIT, () => {
        found = line(kind, name)
        return found !== undefined && isSo(found)
      }).catch((error: Error) => {
        throw new Error(`${error.message}; its last line: ${JSON.stringify(found)}`)
      })
      return found!
    },
    async interrupt() {
      const beganMs = performance.now()
      const exitCode = await server.end(GRACE_MS, 'SIGINT')
      return { tookMs: performance.now() - beganMs, exitCode }
    },
  }
}

/** `weir up --once`, to its end. */
export async function runUp(options: UpOptions) {
  const output = await run({
    file: process.execPath,
    args: [...argsOf(options), '--once'],
    directory: options.directory,
  })
  const lines = output.stdout.split('\n').flatMap(parse) as readonly unknown[] as readonly UpLine[]
  return { ...output, line: (name: string) => lines.findLast((line) => line.name === name) }
}

function argsOf({ manifests, log, args = [] }: UpOptions): readonly string[] {
  return [CLI, 'up', manifests, ...log, '--registry-port', '0', '--worker-port', '0', ...args]
}

function linesOf(file: string): readonly Readonly<Record<string, unknown>>[] {
  return readFileSync(file, 'utf8').split('\n').flatMap(parse)
}

/** A line that is not whole yet is left out. */
function parse(text: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    return [JSON.parse(text)]
  } catch {
    return []
  }
}
