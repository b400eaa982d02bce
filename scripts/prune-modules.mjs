import { readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { argv } from 'node:process'

/**
 * Removes files from node_modules that no program loads: source maps, types, documents except licenses, the tests of
 * packages, and builds for runtimes other than Node. Used in the build of the image.
 *
 *     node scripts/prune-modules.mjs node_modules
 */
const UNUSED_FILE = /\.(?:map|[cm]?ts|md|markdown|yml|html|zip|c|cc|h|bare|bench\.js)$|^(?:\.|CMakeLists|Makefile)/i
const LICENCE = /^(?:licen[cs]e|notice|copying)/i
/**
 * Only directly in a package: deeper folders of these names may be part of the code. `dist-es` is for bundlers: Node loads the `dist-cjs`
 * of these packages.
 */
const UNUSED_FOLDER =
  /^(?:\.github|@types|__tests__|tests?|examples?|docs?|bench(?:marks?)?|integration|prebuilds|browser|dist-es)$/

/** Builds for script tags, at any depth. UMD builds are not among them if the package has no other one for require. */
const SCRIPT_BUILD = 'iife'
const UMD_FOLDER = 'umd'
const UMD_FILE = /\.umd\.js$/

/** @param {string} folder @param {boolean} isPackage */
function prune(folder, isPackage) {
  const entries = readdirSync(folder, { withFileTypes: true })
  const has = (/** @type {string} */ name) => entries.some((entry) => entry.name === name)
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.name === UMD_FOLDER && has('cjs')) rmSync(path, { recursive: true })
    else if (UMD_FILE.test(entry.name) && has(entry.name.replace(UMD_FILE, '.cjs'))) rmSync(path)
    else if (entry.isDirectory()) pruneFolder(path, isPackage)
    else if (UNUSED_FILE.test(entry.name) && !LICENCE.test(entry.name)) rmSync(path)
  }
}

/** @param {string} path @param {boolean} isInPackage */
function pruneFolder(path, isInPackage) {
  const name = basename(path)
  if (name === SCRIPT_BUILD || (isInPackage && UNUSED_FOLDER.test(name))) rmSync(path, { recursive: true })
  else if (name === 'node_modules') pruneModules(path)
  else prune(path, false)
}

/** Libraries whose code is in `dist`, also for the only other library that imports one: with their 20 MB, the image would be too large. */
const JOINED = '@opentelemetry'

/** @param {string} folder */
function pruneModules(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (['@types', JOINED].includes(entry.name) || entry.name.startsWith('.')) rmSync(path, { recursive: true })
    else if (entry.name.startsWith('@')) pruneModules(path)
    else prune(path, true)
  }
}

pruneModules(argv[2] ?? 'node_modules')
