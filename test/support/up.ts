import { readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { type Program, runWeir, startWeir } from './cli.ts'
import { until } from './until.ts'

const WAIT = { everyMs: 10, timeoutMs: 120_000 }

/** A line that `weir up` prints to a pipe: the new state of a resource or a file. */
export type UpLine = {
  readonly kind: string
  readonly name: string
  readonly ready?: string
  readonly reason?: string
  readonly message?: string
  readonly gone?: true
}

export type Up = Pick<Program, 'interrupt'> & {
  readonly registryUrl: string
  readonly workerUrl: string
  /** Waits until the console listens, and returns its URL without the path. */
  untilConsole(): Promise<string>
  /** The latest line about a resource. */
  line(kind: string, name: string): UpLine | undefined
  untilLine(kind: string, name: string, isSo: (line: UpLine) => boolean): Promise<UpLine>
}

export type UpOptions = {
  readonly manifests: string
  /** `['--bootstrap', 'host:port']` or `['--data', directory]`. */
  readonly log: readonly string[]
  /** Working directory, to which paths of manifests are relative. */
  readonly directory: string
  readonly args?: readonly string[]
}

/** Starts `weir up` on free ports, with its output in a pipe. Waits until both runtimes listen. */
export async function startUp(options: UpOptions): Promise<Up> {
  const urlOf = (logFile: string, name: string) =>
    linesOf(logFile).find(({ msg, program }) => msg === 'listening' && program === name)?.['url'] as string | undefined
  const program = await startWeir(
    argsOf(options),
    (logFile) => urlOf(logFile, 'worker') !== undefined && urlOf(logFile, 'registry') !== undefined,
    options,
  )
  onTestFinished(() => program.kill())
  const { logFile } = program
  const line = (kind: string, name: string) =>
    linesOf(logFile).findLast((candidate) => candidate['kind'] === kind && candidate['name'] === name) as
      | UpLine
      | undefined
  return {
    ...program,
    registryUrl: urlOf(logFile, 'registry')!,
    workerUrl: urlOf(logFile, 'worker')!,
    async untilConsole() {
      const started = () => linesOf(logFile).find(({ msg }) => msg === 'the console is available')
      await until('the console', WAIT, () => started() !== undefined)
      return new URL(String(started()?.['url'])).origin
    },
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
  }
}

/** Runs `weir up --once` until it exits. */
export async function runUp(options: UpOptions) {
  const output = await runWeir(options.directory, ...argsOf(options), '--once')
  const lines = output.stdout.split('\n').flatMap(parse) as readonly unknown[] as readonly UpLine[]
  return { ...output, line: (name: string) => lines.findLast((line) => line.name === name) }
}

function argsOf({ manifests, log, args = [] }: UpOptions) {
  return [
    'up',
    manifests,
    ...log,
    '--registry-port',
    '0',
    '--worker-port',
    '0',
    '--console-port',
    '0',
    ...args,
  ] as const
}

function linesOf(file: string): readonly Readonly<Record<string, unknown>>[] {
  return readFileSync(file, 'utf8').split('\n').flatMap(parse)
}

/** Skips an incomplete line. */
function parse(text: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    return [JSON.parse(text)]
  } catch {
    return []
  }
}
