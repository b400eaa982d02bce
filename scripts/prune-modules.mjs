import { readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { argv } from 'node:process'

/**
 * Takes out of a node_modules what no program ever loads: source maps, types, documents (licences stay), the packages'
 * own tests, and what was compiled for other runtimes than Node. Called where the image is built.
 *
 *     node scripts/prune-modules.mjs node_modules
 */
const UNUSED_FILE = /\.(?:map|[cm]?ts|md|markdown|yml|html|zip|c|cc|h|bare|bench\.js)$|^(?:\.|CMakeLists|Makefile)/i
const LICENCE = /^(?:licen[cs]e|notice|copying)/i
/** Directly in a package; deeper ones may be part of it. */
const UNUSED_FOLDER = /^(?:\.github|@types|__tests__|tests?|examples?|docs?|bench(?:marks?)?|integration|prebuilds)$/

/** @param {string} folder @param {boolean} isPackage */
function prune(folder, isPackage) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) pruneFolder(path, isPackage)
    else if (UNUSED_FILE.test(entry.name) && !LICENCE.test(entry.name)) rmSync(path)
  }
}

/** @param {string} path @param {boolean} isInPackage */
function pruneFolder(path, isInPackage) {
  const name = basename(path)
  if (isInPackage && UNUSED_FOLDER.test(name)) rmSync(path, { recursive: true })
  else if (name === 'node_modules') pruneModules(path)
  else prune(path, false)
}

/** @param {string} folder */
function pruneModules(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.name === '@types' || entry.name.startsWith('.')) rmSync(path, { recursive: true })
    else if (entry.name.startsWith('@')) pruneModules(path)
    else prune(path, true)
  }
}

pruneModules(argv[2] ?? 'node_modules')
