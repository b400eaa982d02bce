import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'

const runningStack = z.object({
  pid: z.int().positive(),
  version: z.string(),
  manifests: z.string(),
  /** Where the file is: the data directory of an embedded broker. */
  directory: z.string(),
  registryUrl: z.string(),
  workerUrl: z.string(),
  consoleUrl: z.string().optional(),
  broker: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('process'), port: z.int(), token: z.string() }),
    z.object({ kind: z.literal('kafka'), bootstrap: z.string() }),
  ]),
})

/** A running `weir up`, as the file in its directory describes it to other commands of the same user. */
export type RunningStack = z.infer<typeof runningStack>

const FILE = 'weir-up.json'
/** The default data directory, in the directory of the manifests. */
export const DATA_DIRECTORY = '.weir'
const DEPTH_MAX = 3
const DIRECTORIES_MAX = 500

/** The file contains a token, so only its owner may read it. Returns a function that removes it. */
export function writeRunningStack(directory: string, stack: RunningStack): () => void {
  const isCreated = !existsSync(directory)
  if (isCreated) mkdirSync(directory)
  const file = join(directory, FILE)
  // An existing file would keep its mode.
  rmSync(file, { force: true })
  writeFileSync(file, `${JSON.stringify(stack, undefined, 2)}\n`, { mode: 0o600 })
  return () => {
    if (readFile(directory)?.pid !== stack.pid) return
    rmSync(file, { force: true })
    if (isCreated) rmdirSync(directory)
  }
}

/** `left`: the process ended without removing its file, such as after SIGKILL. */
export type StackSearch = { readonly running: readonly FoundStack[]; readonly left: readonly FoundStack[] }
type FoundStack = { readonly file: string; readonly stack: RunningStack }

/** The `weir up` that uses this data directory. */
export function readRunningStack(directory: string): RunningStack | undefined {
  const stack = readFile(directory)
  return stack !== undefined && isRunning(stack) ? stack : undefined
}

/**
 * The nearest running `weir up`: of this directory, else of its subdirectories, else of its parents. There is more than one if several are
 * equally near.
 */
export function findRunningStacks(start: string): StackSearch {
  const left: FoundStack[] = []
  for (const directories of nearestFirst(start)) {
    const found = directories.flatMap((directory) => {
      const stack = readFile(directory)
      return stack === undefined ? [] : [{ file: join(directory, FILE), stack }]
    })
    const running = found.filter(({ stack }) => isRunning(stack))
    if (running.length > 0) return { running, left }
    left.push(...found)
  }
  return { running: [], left }
}

function* nearestFirst(start: string): Generator<readonly string[]> {
  let level: readonly string[] = [start]
  let count = 0
  for (let depth = 0; depth <= DEPTH_MAX && level.length > 0 && count < DIRECTORIES_MAX; depth += 1) {
    yield level.flatMap((directory) => [directory, join(directory, DATA_DIRECTORY)])
    count += level.length
    level = level.flatMap(subdirectories).slice(0, DIRECTORIES_MAX)
  }
  for (let child = start, parent = dirname(start); parent !== child; child = parent, parent = dirname(parent)) {
    yield [parent, join(parent, DATA_DIRECTORY)]
  }
}

function subdirectories(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
      .map(({ name }) => join(directory, name))
  } catch {
    // A directory that this user cannot list has no data of a program of this user.
    return []
  }
}

/** A file of another version, or one that is not readable, describes no program that this command could use. */
function readFile(directory: string): RunningStack | undefined {
  try {
    return runningStack.parse(JSON.parse(readFileSync(join(directory, FILE), 'utf8')))
  } catch {
    return undefined
  }
}

function isRunning({ pid }: RunningStack): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
