import { UserError } from '../../config/errors.ts'
import { listedName } from '../../plugins/catalog.ts'
import { parseConfig, type RawConfig } from '../../sdk/index.ts'
import { commonKeys } from '../configuration/connector-keys.ts'
import type { ConnectorPlugin } from '../configuration/connector-plugin.ts'
import { inJavaOrder } from '../model/java-order.ts'
import type { GeneratedTaskConfigs, PluginHost } from '../plugin-host.ts'

/**
 * The raw configurations of a connector's tasks, as they are stored, and when to make them again. Rejects with a
 * `ConfigError`, with a `WorkerError` of the plugin host, or when the connector makes more tasks than it may.
 */
export async function generateTaskConfigs(
  host: PluginHost,
  plugin: ConnectorPlugin,
  config: RawConfig,
): Promise<GeneratedTaskConfigs> {
  const { 'tasks.max': tasksMax, 'tasks.max.enforce': enforce } = parseConfig(limits, config)
  const { configs: made, againMs } = await host.call('make-tasks', plugin, { config, tasksMax })
  if (enforce && made.length > tasksMax) {
    throw new UserError(
      'too_many_tasks',
      `The connector ${config['name']} has generated ${made.length} tasks, which is greater than ${tasksMax}, ` +
        `the maximum number of tasks it is configured to create.`,
    )
  }
  const topics = plugin.kind === 'sink' ? topicKeys(config) : {}
  const configs = made.map((task) => inJavaOrder({ ...task, 'task.class': taskClassOf(plugin), ...topics }))
  return { configs, againMs }
}

export function sameConfig(a: RawConfig, b: RawConfig | undefined): boolean {
  if (b === undefined) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}

const limits = commonKeys.pick({ 'tasks.max': true, 'tasks.max.enforce': true })

function topicKeys(config: RawConfig): RawConfig {
  const keys = ['topics', 'topics.regex'].filter((key) => config[key] !== undefined)
  return Object.fromEntries(keys.map((key) => [key, config[key] as string]))
}

/** What a Java worker that takes over finds its class by. */
function taskClassOf(plugin: ConnectorPlugin): string {
  return `${listedName(plugin).replace(/Connector$/, '')}Task`
}
