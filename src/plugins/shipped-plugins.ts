import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createDirectories } from '../common/create-directories.ts'
import { CODE_DIRECTORY, PACKAGE_DIRECTORY } from '../common/program-files.ts'
import type { Plugin } from '../sdk/index.ts'
import { exportedPlugins } from './import-plugins.ts'
import type { PluginDescriptor } from './plugin-descriptor.ts'
import { SHIPPED_MODULES } from './shipped-modules.ts'

/** A plugin that ships with Weir, without its code. */
export type ShippedPlugin = PluginDescriptor & {
  /** A key of `SHIPPED_MODULES`. */
  readonly module: string
}

/** Written by the build. */
const BUILT_FILE = join(CODE_DIRECTORY, 'plugins/shipped-descriptors.json')
const CACHE_FILE = join(PACKAGE_DIRECTORY, 'node_modules/.cache/shipped-descriptors.json')

/**
 * Describes the plugins that ship with Weir without running their code in this process. A checkout, which has no built
 * descriptors, describes them anew after its files have changed.
 */
export function shippedPlugins(): Promise<readonly ShippedPlugin[]> {
  described ??= describe()
  return described
}

let described: Promise<readonly ShippedPlugin[]> | undefined

async function describe(): Promise<readonly ShippedPlugin[]> {
  if (existsSync(BUILT_FILE)) return JSON.parse(readFileSync(BUILT_FILE, 'utf8')) as readonly ShippedPlugin[]
  const version = sourceVersion()
  const cached = readCache()
  if (cached?.version === version) return cached.plugins
  const script = join(CODE_DIRECTORY, 'plugins/describe-shipped.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [script])
  const plugins = JSON.parse(stdout) as readonly ShippedPlugin[]
  writeCache({ version, plugins })
  return plugins
}

/** Imports the module of a shipped plugin. */
export async function importShipped({ module, kind, class: name }: ShippedPlugin): Promise<Plugin> {
  const exported = exportedPlugins((await SHIPPED_MODULES[module]?.()) ?? {})
  const plugin = exported.find((one) => one.kind === kind && one.class === name)
  if (plugin === undefined) throw new Error(`${module} does not export ${name}: install this release again`)
  return plugin
}

type Cache = { readonly version: string; readonly plugins: readonly ShippedPlugin[] }

function readCache(): Cache | undefined {
  try {
    return JSON.parse(readFileSync(CACHE_FILE, 'utf8')) as Cache
  } catch {
    return undefined
  }
}

/** Other processes may read the file at the same time. One that cannot be written only saves no time. */
function writeCache(cache: Cache): void {
  try {
    createDirectories(dirname(CACHE_FILE))
    const file = `${CACHE_FILE}.${process.pid}`
    writeFileSync(file, JSON.stringify(cache))
    renameSync(file, CACHE_FILE)
  } catch {}
}

/** Changes with every file that a description can depend on. */
function sourceVersion(): string {
  const hash = createHash('sha256')
  for (const file of [join(PACKAGE_DIRECTORY, 'package.json'), ...filesIn(CODE_DIRECTORY)]) {
    const { mtimeMs, size } = statSync(file)
    hash.update(`${file} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex')
}

/** Three times as fast as the option `recursive` of Node.js. */
function filesIn(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    return entry.isDirectory() ? filesIn(path) : [path]
  })
}
