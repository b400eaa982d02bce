import type { KnownPlugin } from '../../../plugins/load-modules.ts'
import type { Catalog, OfKind, PluginKind } from '../../../plugins/plugin-catalog.ts'
import { importShipped } from '../../../plugins/shipped-plugins.ts'
import type { Plugin } from '../../../sdk/index.ts'
import { taskPlugins } from '../../tasks/pipeline-plugins.ts'
import type { PipelineSpec } from '../../tasks/task-spec.ts'

/** Imports the shipped plugins of a task. Only the plugins of the task can be found in the result. */
export async function loadTaskPlugins(
  known: Catalog<KnownPlugin>,
  { kind, config, worker }: PipelineSpec,
): Promise<Catalog> {
  const loaded = new Map<KnownPlugin, Plugin>()
  const load = async (plugin: KnownPlugin | undefined) => {
    if (plugin === undefined) return
    // A shipped plugin has the names that installed ones have left to it.
    const { aliases } = plugin
    loaded.set(plugin, 'config' in plugin ? plugin : ({ ...(await importShipped(plugin)), aliases } as Plugin))
  }
  const wanted = taskPlugins(kind, config, worker.converters)
  await Promise.all(wanted.map((plugin) => load(known.find(plugin.kind, plugin.className, plugin.version))))
  return {
    ...known,
    find: <Kind extends PluginKind>(pluginKind: Kind, name: string, requirement?: string) => {
      const found: KnownPlugin | undefined = known.find(pluginKind, name, requirement)
      return found && (loaded.get(found) as OfKind<Plugin, Kind> | undefined)
    },
  }
}
