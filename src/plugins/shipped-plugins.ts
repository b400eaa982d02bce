import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CODE_DIRECTORY } from '../common/program-files.ts'
import type { Plugin } from '../sdk/index.ts'
import { exportedPlugins } from './import-plugins.ts'
import { type PluginDescriptor, toDescriptor } from './plugin-descriptor.ts'
import { SHIPPED_MODULES } from './shipped-modules.ts'
import { SHIPPED_VERSION } from './shipped-version.ts'

/** Identifies a plugin. */
type ShippedName = Pick<PluginDescriptor, 'kind' | 'class'>

/** The content of `shipped-descriptors.json`. */
type Described = {
  readonly version: string
  /** By the keys of `SHIPPED_MODULES`. */
  readonly modules: Readonly<Record<string, readonly PluginDescriptor[]>>
}

/**
 * The plugins that ship with Weir. Their descriptions are read from `shipped-descriptors.json`, so that a worker knows
 * them without running their code; a module is loaded when one of its plugins is used.
 */
export class ShippedPlugins {
  readonly descriptors: readonly PluginDescriptor[]
  readonly #modules: Described['modules']

  /** Throws when the descriptions are those of another version. */
  constructor(file = join(CODE_DIRECTORY, 'plugins/shipped-descriptors.json')) {
    const { version, modules } = JSON.parse(readFileSync(file, 'utf8')) as Described
    if (version !== SHIPPED_VERSION) throw new Error(`${file} describes version ${version}, not ${SHIPPED_VERSION}`)
    this.#modules = modules
    this.descriptors = Object.values(modules).flat()
  }

  /** Resolves to undefined for a plugin that does not ship. Rejects when the plugin is not as it is described. */
  async load(name: ShippedName): Promise<Plugin | undefined> {
    const isNamed = (plugin: ShippedName) => plugin.kind === name.kind && plugin.class === name.class
    const [path, described] = Object.entries(this.#modules).find(([, plugins]) => plugins.some(isNamed)) ?? []
    if (path === undefined) return undefined
    const plugin = exportedPlugins((await SHIPPED_MODULES[path]?.()) ?? {}).find(isNamed)
    const descriptor = described?.find(isNamed)
    if (plugin && JSON.stringify(toDescriptor(plugin)) === JSON.stringify(descriptor)) return plugin
    throw new Error(
      `${name.class} is not as shipped-descriptors.json describes it: install this release again or, in a checkout, run npx vitest run test/plugins/shipped-plugins.test.ts -u`,
    )
  }
}
