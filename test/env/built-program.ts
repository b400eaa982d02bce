import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { must } from './debian.ts'
import { removeDirectory } from './remove-directory.ts'

const CHECKOUT = join(import.meta.dirname, '../..')
/** What the build reads in addition to `src`, and what defines the versions of the libraries. */
const INPUTS = ['scripts/build.mjs', 'package.json', 'package-lock.json', 'tsconfig.json']
/** Builds that stay in the cache. A run of the tests uses one of them for as long as it lasts. */
const BUILDS_MAX = 5

/**
 * Builds the program as it is published, once for each state of its sources, and returns the environment with which
 * `weirCommand` starts it. A start of it takes half of the CPU time of a start from `src`.
 *
 * The build is in the checkout, where it finds the libraries with native code and where the users of sandboxes can read it.
 */
export async function builtProgram(checkout = CHECKOUT): Promise<Readonly<Record<string, string>>> {
  const cache = join(checkout, 'node_modules/.cache/weir-program')
  mkdirSync(cache, { recursive: true })
  const directory = await builtDirectory(checkout, cache)
  // The time of the last use, by which the oldest builds are found.
  utimesSync(directory, new Date(), new Date())
  removeOldest(cache)
  return {
    WEIR_CLI: join(directory, 'dist/cli/weir.js'),
    // The default directory would keep the code of each build.
    NODE_COMPILE_CACHE: join(directory, 'compile-cache'),
  }
}

async function builtDirectory(checkout: string, cache: string): Promise<string> {
  for (;;) {
    const state = stateOfSources(checkout)
    const directory = join(cache, state)
    if (existsSync(directory)) return directory
    const unfinished = mkdtempSync(join(cache, 'unfinished-'))
    try {
      const args = ['scripts/build.mjs', '--code', join(unfinished, 'dist')]
      await must({ file: process.execPath, args, directory: checkout })
      copyFileSync(join(checkout, 'package.json'), join(unfinished, 'package.json'))
      chmodSync(unfinished, 0o755)
      // An author may have saved a file during the build.
      if (stateOfSources(checkout) === state) moveUnlessThere(unfinished, directory)
    } finally {
      removeDirectory(unfinished)
    }
  }
}

/** Changes with each name and each content of a source. */
function stateOfSources(checkout: string): string {
  const entries = globSync('src/**/*', { cwd: checkout, withFileTypes: true }).filter((entry) => entry.isFile())
  const sources = entries.map(({ parentPath, name }) => relative(checkout, join(parentPath, name))).toSorted()
  const hash = createHash('sha256')
  for (const file of [...INPUTS, ...sources]) {
    const content = readFileSync(join(checkout, file))
    hash.update(`${file}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex').slice(0, 16)
}

/** Another run may have built the same concurrently. */
function moveUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!existsSync(to)) throw error
  }
}

/** Also removes what killed runs have left unfinished. */
function removeOldest(cache: string): void {
  const usedAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const byUse = readdirSync(cache)
    .map((name) => ({ path: join(cache, name), at: usedAt(join(cache, name)) }))
    .toSorted((a, b) => b.at - a.at)
  for (const { path } of byUse.slice(BUILDS_MAX)) {
    // Renamed first, so that a removal that is interrupted leaves no incomplete build.
    const removed = `${path}.removed`
    try {
      renameSync(path, removed)
    } catch {
      // Another run removes it, too.
    }
    removeDirectory(removed)
  }
}
