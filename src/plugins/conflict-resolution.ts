import type { Plugin } from '../sdk/index.ts'
import { type PluginOrigin, pluginNames } from './plugin-catalog.ts'

/** A file or plugin on `plugin.path` that cannot be used, with the reason. */
export type PluginFault = {
  readonly file: string
  readonly reason: string
  /** Whether the file is used, without a class or with another copy of it. */
  readonly isWarning?: true | undefined
}

type Named = Pick<Plugin, 'kind' | 'class' | 'aliases' | 'version'>

/** A plugin, or its descriptor, and the file or Java plugin location from which it was loaded. */
export type Loaded<Item extends Named = Plugin> = {
  readonly file: string
  readonly plugin: Item
  /** Whether it comes from a jar. It then takes its class name from the shipped plugin that has it as an alias. */
  readonly isJava?: boolean
}

/**
 * Selects the plugins that can be used, shipped ones among them: all versions of a class, and the first of plugins with
 * different classes that share a name. A Java plugin wins over a shipped one, because somebody installed it; only those of
 * Kafka itself do not.
 */
export function resolveConflicts<Item extends Named>(
  shipped: readonly Item[],
  loaded: readonly Loaded<Item>[],
): { readonly plugins: readonly (Item & PluginOrigin)[]; readonly faults: readonly PluginFault[] } {
  const faults: PluginFault[] = []
  const own = new Set(shipped.flatMap(keysOf))
  const usable = loaded.filter(
    ({ plugin, isJava }) => !(isJava && isOfKafka(plugin) && keysOf(plugin).some((key) => own.has(key))),
  )
  const javaNames = new Set(usable.flatMap(({ plugin, isJava }) => (isJava ? keysOf(plugin) : [])))
  const replaced = new Map(
    shipped.flatMap((plugin) => keysOf(plugin).flatMap((key) => (javaNames.has(key) ? [[key, plugin.class]] : []))),
  )
  const remaining = shipped.flatMap((plugin) => withoutNames(plugin, javaNames))
  const taken = new Map<string, Named & { readonly file?: string }>(
    remaining.flatMap((plugin) => keysOf(plugin).map((key) => [key, plugin] as const)),
  )
  const versions = new Map<string, string>()
  const plugins = usable.flatMap(({ file, plugin, isJava }) => {
    const { kind, class: name, version } = plugin
    const sameVersion = versions.get(`${kind} ${name} ${version}`)
    const rival = keysOf(plugin)
      .flatMap((key) => taken.get(key) ?? [])
      .find((other) => other.class !== name || other.file === undefined)
    if (rival !== undefined) {
      faults.push({ file, reason: `${name} has a name of ${rival.class}, which was loaded before` })
      return []
    }
    if (sameVersion !== undefined) {
      const reason = `${name} ${version} is in ${sameVersion}, too, and that one is used`
      // Connectors of one project contain the same transforms: each task uses those of its own location.
      if (!isJava || isConnector(plugin)) faults.push({ file, reason, isWarning: true })
      return []
    }
    versions.set(`${kind} ${name} ${version}`, file)
    for (const key of keysOf(plugin)) taken.set(key, { ...plugin, file })
    const replaces = keysOf(plugin).flatMap((key) => replaced.get(key) ?? [])[0]
    return [{ ...plugin, location: file, ...(replaces !== undefined && { replaces }) }]
  })
  return { plugins: [...remaining, ...plugins], faults }
}

/** A converter, transform or predicate of Kafka itself. Jars of plugins often contain copies of them. */
function isOfKafka(plugin: Named): boolean {
  return !isConnector(plugin) && plugin.class.startsWith('org.apache.kafka.connect.')
}

function isConnector({ kind }: Named): boolean {
  return kind === 'source' || kind === 'sink'
}

/** A shipped plugin under its other names; none if its own class name is taken. */
function withoutNames<Item extends Named>(plugin: Item, taken: ReadonlySet<string>): readonly Item[] {
  const { kind, class: name, aliases = [] } = plugin
  if (taken.has(`${kind} ${name}`)) return []
  const kept = aliases.filter((alias) => !taken.has(`${kind} ${alias}`))
  return [kept.length === aliases.length ? plugin : { ...plugin, aliases: kept }]
}

function keysOf(plugin: Named): readonly string[] {
  return pluginNames(plugin).map((name) => `${plugin.kind} ${name}`)
}
