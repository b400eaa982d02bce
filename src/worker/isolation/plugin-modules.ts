import { fileURLToPath } from 'node:url'
import type { JavaModule } from '../../java/java-module.ts'
import type { PluginOrigin } from '../../plugins/plugin-catalog.ts'
import type { PluginDescriptor } from '../../plugins/plugin-descriptor.ts'
import type { PluginCatalog } from '../plugin-host.ts'
import { taskPlugins } from '../tasks/pipeline-plugins.ts'
import type { TaskSpec } from '../tasks/task-spec.ts'

/** The plugins of a task process in addition to the shipped ones. */
export type PluginModules = {
  /** URLs of modules. */
  readonly urls: readonly string[]
  readonly java: readonly JavaModule[]
}

/** The URLs among these of the modules that the plugins of a task come from. */
export function modulesOf(
  { kind, config, worker }: Pick<TaskSpec, 'kind' | 'config' | 'worker'>,
  catalog: PluginCatalog,
  urls: readonly string[],
): readonly string[] {
  const locations = taskPlugins(kind, config, worker.converters).map(({ kind: pluginKind, className, version }) => {
    const plugin: (PluginDescriptor & PluginOrigin) | undefined = catalog.find(pluginKind, className, version)
    return plugin?.location
  })
  return urls.filter((url) => locations.includes(fileURLToPath(url)))
}
