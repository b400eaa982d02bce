import type { PluginOrigin } from '../../../plugins/plugin-catalog.ts'
import type { PluginDescriptor } from '../../../plugins/plugin-descriptor.ts'
import type { PluginCatalog, PluginName } from '../../plugin-host.ts'
import { taskPlugins } from '../../tasks/pipeline-plugins.ts'
import type { TaskSpec } from '../../tasks/task-spec.ts'

/**
 * The paths of the locations whose JVMs a task uses: that of its connector or, if that is not a Java plugin, that of the
 * first Java plugin of its pipeline, which runs the others, too.
 */
export function javaLocationsOf(
  { kind, config, worker }: Pick<TaskSpec, 'kind' | 'config' | 'worker'>,
  catalog: PluginCatalog,
  java: { readonly has: (plugin: PluginName) => boolean },
): readonly string[] {
  for (const { kind: pluginKind, className, version } of taskPlugins(kind, config, worker.converters)) {
    const plugin: (PluginDescriptor & PluginOrigin) | undefined = catalog.find(pluginKind, className, version)
    if (plugin?.location !== undefined && java.has(plugin)) return [plugin.location]
  }
  return []
}
