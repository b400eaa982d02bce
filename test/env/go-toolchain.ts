import { existsSync, renameSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { cacheDirectory } from './cache.ts'
import type { Found } from './part.ts'
import { run } from './process.ts'
import { removeDirectory } from './remove-directory.ts'
import { takeTurns } from './take-turns.ts'
import { partDirectory } from './workspace.ts'

/** A program that is built from Go modules. Its `go.mod` and `go.sum` are checked in for reproducible builds. */
export type GoProgram = {
  /** Name of the binary. */
  readonly name: string
  readonly version: string
  /** Folder in `test/env/go` with its `go.mod`. */
  readonly module: string
  readonly package: string
  /** Linker flags, which set the version that it reports. */
  readonly flags?: string
}

const GO_MIN = [1, 26] as const

/** By the path of the binary. */
const builds = new Map<string, Promise<string>>()
const inTurn = takeTurns()
/** How many callers of `buildAllGo` wait. They share `cache`. */
let users = 0
let cache: string | undefined

export async function findGo(): Promise<Found> {
  const version = await goVersion()
  if (version === undefined) return { how: 'missing', detail: 'there is no go on PATH' }
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < GO_MIN[0] || (major === GO_MIN[0] && minor < GO_MIN[1])) {
    return { how: 'missing', detail: `go is ${version}, Go ${GO_MIN.join('.')} is needed` }
  }
  return { how: 'toolchain', detail: `Go ${version}, modules from the Go proxy`, cached: false }
}

/** Path of the binary, whether or not it is built. */
export function binaryOf({ name, version }: GoProgram): string {
  return join(cacheDirectory('go'), `${name}-${version}`)
}

/** Builds the binary if it is missing and returns its path. */
export async function buildGo(program: GoProgram): Promise<string> {
  const [file = ''] = await buildAllGo([program])
  return file
}

/**
 * Builds the missing binaries and returns their paths. All builds of this process take turns, because each uses all cores,
 * and share a cache, which is removed after the last one: it is twenty times as large as the binaries.
 */
export async function buildAllGo(programs: readonly GoProgram[]): Promise<readonly string[]> {
  users += 1
  try {
    const files: string[] = []
    for (const program of programs) files.push(await buildOnce(program))
    return files
  } finally {
    users -= 1
    if (users === 0 && cache !== undefined) {
      removeDirectory(cache)
      cache = undefined
    }
  }
}

/** Several parts need the same program. */
function buildOnce(program: GoProgram): Promise<string> {
  const file = binaryOf(program)
  const built = builds.get(file) ?? inTurn(() => buildMissing(program, file))
  builds.set(file, built)
  return built
}

async function buildMissing(program: GoProgram, file: string): Promise<string> {
  if (existsSync(file)) return file
  cache ??= partDirectory('go-build')
  await build(program, cache)
  return file
}

async function build(program: GoProgram, cache: string): Promise<void> {
  // Written to a temporary file and renamed, because another run may be looking for the binary.
  const target = binaryOf(program)
  const written = `${target}.${process.pid}`
  const { code, stderr } = await run({
    file: 'go',
    args: [
      ...['build', '-mod=readonly', '-trimpath', '-p', String(availableParallelism())],
      ...['-ldflags', `-s -w ${program.flags ?? ''}`, '-o', written, program.package],
    ],
    directory: join(import.meta.dirname, 'go', program.module),
    env: { CGO_ENABLED: '0', GOWORK: 'off', GOTOOLCHAIN: 'local', GOCACHE: cache },
  })
  if (code !== 0) throw new Error(`Go could not build ${program.name} ${program.version}:\n${stderr}`)
  renameSync(written, target)
}

async function goVersion(): Promise<string | undefined> {
  try {
    const { stdout } = await run({ file: 'go', args: ['env', 'GOVERSION'], directory: '.' })
    return /go([\d.]+)/.exec(stdout)?.[1]
  } catch {
    return undefined
  }
}
