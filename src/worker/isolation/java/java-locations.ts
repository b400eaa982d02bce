import { commaSeparated } from '../../../config/settings.ts'
import type { PluginKind } from '../../../plugins/plugin-catalog.ts'
import type { RawConfig } from '../../../sdk/index.ts'
import type { PluginCatalog, PluginName } from '../../plugin-host.ts'
import type { TaskSpec } from '../../tasks/task-spec.ts'

/** Where a class of Java plugins is installed. */
type JavaLocations = { readonly locationsOf: (plugin: Pick<PluginName, 'kind' | 'class'>) => readonly string[] }

/** The paths of the locations whose Java plugins a task uses: its connector, converters, transforms and predicates. */
export function javaLocationsOf(
  { config, worker }: Pick<TaskSpec, 'config' | 'worker'>,
  catalog: PluginCatalog,
  java: JavaLocations,
): readonly string[] {
  const locations = pluginNames({ ...worker.converters, ...config }).flatMap(([kind, name]) => {
    const plugin = catalog.find(kind, name.trim())
    return plugin === undefined ? [] : java.locationsOf(plugin)
  })
  return [...new Set(locations)]
}

function pluginNames(config: RawConfig): readonly (readonly [PluginKind, string])[] {
  const named = (kind: PluginKind, key: string) => {
    const name = config[key]
    return name === undefined ? [] : [[kind, name] as const]
  }
  const listed = (key: 'transforms' | 'predicates') => commaSeparated(config[key] ?? '')
  return [
    ...named('source', 'connector.class'),
    ...named('sink', 'connector.class'),
    ...named('converter', 'key.converter'),
    ...named('converter', 'value.converter'),
    ...named('header_converter', 'header.converter'),
    ...listed('transforms').flatMap((alias) => named('transformation', `transforms.${alias}.type`)),
    ...listed('predicates').flatMap((alias) => named('predicate', `predicates.${alias}.type`)),
  ]
}
