import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A module found on `plugin.path`, or the reason why an entry cannot be used. */
export type DiscoveredModule = { readonly file: string } & ({ readonly url: string } | { readonly reason: string })

/**
 * Lists the modules on `plugin.path`. Each entry is a module (`.ts`, `.js`, `.mjs`), an npm package, or a directory of
 * those. In the `node_modules` of such a directory, only packages with the keyword `weir-plugin` are used. Java plugins
 * on the same path are found by `src/java/discovery`.
 */
export function discoverModules(pluginPath: readonly string[]): readonly DiscoveredModule[] {
  return pluginPath.flatMap((entry) => {
    const path = resolve(entry)
    const kind = kindOf(path)
    if (kind === undefined) return [{ file: path, reason: 'no such file or directory' }]
    if (kind === 'unreadable') return [{ file: path, reason: 'it cannot be read' }]
    if (kind === 'file') return fileModule(path)
    return isPackage(path) && !hasPluginsInstalled(path) ? [packageModule(path)] : folderModules(path)
  })
}

function fileModule(path: string): readonly DiscoveredModule[] {
  if (isModule(path)) return [found(path)]
  return isJavaArchive(path) ? [] : [{ file: path, reason: 'expected .ts, .js, .mjs, .jar or .zip' }]
}

function isJavaArchive(path: string): boolean {
  return /\.(?:jar|zip)$/i.test(path)
}

function folderModules(folder: string): readonly DiscoveredModule[] {
  const children = childrenOf(folder)
  if (children === undefined) return [{ file: folder, reason: 'it cannot be read' }]
  const own = children.flatMap((name) => {
    const path = join(folder, name)
    if (name === 'node_modules' || name.startsWith('.')) return []
    if (kindOf(path) === 'file') return isModule(path) ? [found(path)] : []
    return isPackage(path) ? [packageModule(path)] : []
  })
  return [...own, ...installedPackages(folder).map(packageModule)]
}

function childrenOf(folder: string): readonly string[] | undefined {
  try {
    return readdirSync(folder).sort()
  } catch {
    return undefined
  }
}

/** Excludes type declarations, tests and configuration files. */
function isModule(path: string): boolean {
  return /\.(?:ts|js|mjs)$/.test(path) && !/\.(?:d|test|spec)\.\w+$|\.config\.\w+$/.test(basename(path))
}

function isPackage(folder: string): boolean {
  return kindOf(join(folder, 'package.json')) === 'file'
}

function hasPluginsInstalled(folder: string): boolean {
  return installedPackages(folder).length > 0
}

function installedPackages(folder: string): readonly string[] {
  const modules = join(folder, 'node_modules')
  if (kindOf(modules) !== 'folder') return []
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((scoped) => join(name, scoped)) : [name],
  )
  return names
    .sort()
    .map((name) => join(modules, name))
    .filter((path) => isPackage(path) && isMarked(path))
}

function isMarked(folder: string): boolean {
  try {
    const { keywords } = readManifest(folder)
    return Array.isArray(keywords) && keywords.includes('weir-plugin')
  } catch {
    return false
  }
}

type Manifest = { readonly exports?: unknown; readonly main?: unknown; readonly keywords?: unknown }

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function packageModule(folder: string): DiscoveredModule {
  try {
    const { exports, main } = readManifest(folder)
    const entry = targetOf(exports) ?? (typeof main === 'string' ? main : 'index.js')
    return found(join(folder, entry))
  } catch (error) {
    return { file: join(folder, 'package.json'), reason: (error as Error).message }
  }
}

const CONDITIONS = ['.', 'node', 'import', 'default']

/** Resolves `exports` for an import of the package by its name. */
function targetOf(exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports
  if (typeof exports !== 'object' || exports === null) return undefined
  for (const [condition, target] of Object.entries(exports)) {
    const chosen = CONDITIONS.includes(condition) ? targetOf(target) : undefined
    if (chosen !== undefined) return chosen
  }
  return undefined
}

function found(file: string): DiscoveredModule {
  return { file, url: pathToFileURL(file).href }
}

function kindOf(path: string): 'file' | 'folder' | 'unreadable' | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return undefined
    return stats.isDirectory() ? 'folder' : 'file'
  } catch {
    // A link that leads to itself, or a directory of somebody else.
    return 'unreadable'
  }
}
