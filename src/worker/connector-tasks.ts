import { UserError } from '../config/failure.ts'
import { type Catalog, listedName } from '../plugins/catalog.ts'
import { parseConfig, type SinkConnector, type SourceConnector } from '../sdk/index.ts'
import { inJavaOrder } from './java-order.ts'
import type { RawConfig } from './stores/config-codec.ts'
import { commonKeys } from './validation/connector-keys.ts'

export type ConnectorPlugin = SourceConnector | SinkConnector

/** The connector that a configuration names; undefined when there is none of that name here. */
export function findConnector(plugins: Catalog, config: RawConfig): ConnectorPlugin | undefined {
  const className = config['connector.class']?.trim() ?? ''
  return plugins.find('source', className) ?? plugins.find('sink', className)
}

/**
 * The raw configurations of a connector's tasks, as they are stored. Rejects with a `ConfigError`, with what the plugin
 * throws, or when it makes more tasks than it may.
 */
export async function toTaskConfigs(plugin: ConnectorPlugin, config: RawConfig): Promise<readonly RawConfig[]> {
  const { 'tasks.max': tasksMax, 'tasks.max.enforce': enforce } = parseConfig(limits, config)
  const own = parseConfig(plugin.config, config)
  const made = plugin.tasks ? await plugin.tasks(own, tasksMax, config) : defaultTasks(plugin, tasksMax, config)
  if (enforce && made.length > tasksMax) {
    throw new UserError(
      'too_many_tasks',
      `The connector ${config['name']} has generated ${made.length} tasks, which is greater than ${tasksMax}, ` +
        `the maximum number of tasks it is configured to create.`,
    )
  }
  const topics = plugin.kind === 'sink' ? topicKeys(config) : {}
  return made.map((task) => inJavaOrder({ ...task, 'task.class': taskClassOf(plugin), ...topics }))
}

/** How often its tasks are to be made anew; undefined: when its configuration changes. */
export function tasksAgainMs(plugin: ConnectorPlugin, config: RawConfig): number | undefined {
  return plugin.kind === 'source' ? plugin.tasksAgainMs?.(parseConfig(plugin.config, config)) : undefined
}

export function sameConfig(a: RawConfig, b: RawConfig | undefined): boolean {
  if (b === undefined) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}

const limits = commonKeys.pick({ 'tasks.max': true, 'tasks.max.enforce': true })

/** The partitions of a sink's topics are shared between its tasks by their group; a source knows best itself. */
function defaultTasks(plugin: ConnectorPlugin, tasksMax: number, config: RawConfig): readonly RawConfig[] {
  return Array.from({ length: plugin.kind === 'sink' ? tasksMax : 1 }, () => config)
}

function topicKeys(config: RawConfig): RawConfig {
  const keys = ['topics', 'topics.regex'].filter((key) => config[key] !== undefined)
  return Object.fromEntries(keys.map((key) => [key, config[key] as string]))
}

/** What a Java worker that takes over finds its class by. */
function taskClassOf(plugin: ConnectorPlugin): string {
  return `${listedName(plugin).replace(/Connector$/, '')}Task`
}
