import { UserError } from '../../common/errors.ts'
import { listedName } from '../../plugins/plugin-catalog.ts'
import { parseConfig, type RawConfig } from '../../sdk/index.ts'
import { commonKeys } from '../configuration/connector-keys.ts'
import type { ConnectorPlugin } from '../configuration/connector-plugin.ts'
import { inJavaOrder } from '../model/java-order.ts'
import type { ConnectorRun, GeneratedTaskConfigs, PluginHost } from '../plugin-host.ts'

/**
 * Generates the task configurations of a connector as they are stored, and the time until the next generation. Rejects
 * with a `ConfigError`, with a `WorkerError` of the plugin host, or with a `UserError` when the connector generates
 * more tasks than `tasks.max` and `tasks.max.enforce` is set.
 */
export async function generateTaskConfigs(
  host: PluginHost,
  plugin: ConnectorPlugin,
  config: RawConfig,
  run: ConnectorRun = 0,
  signal?: AbortSignal,
): Promise<GeneratedTaskConfigs> {
  const { 'tasks.max': tasksMax, 'tasks.max.enforce': enforce } = parseConfig(limits, config)
  const {
    configs: generated,
    againMs,
    taskClass = taskClassOf(plugin),
  } = await host.call('make-tasks', plugin, { config, tasksMax, run }, signal)
  if (enforce && generated.length > tasksMax) {
    throw new UserError(
      'too_many_tasks',
      `The connector ${config['name']} has generated ${generated.length} tasks, which is greater than ${tasksMax}, ` +
        `the maximum number of tasks it is configured to create.`,
    )
  }
  const topics = plugin.kind === 'sink' ? topicKeys(config) : {}
  const configs = generated.map((task) => inJavaOrder({ ...task, 'task.class': taskClass, ...topics }))
  return { configs, againMs }
}

const limits = commonKeys.pick({ 'tasks.max': true, 'tasks.max.enforce': true })

function topicKeys(config: RawConfig): RawConfig {
  const keys = ['topics', 'topics.regex'].filter((key) => config[key] !== undefined)
  return Object.fromEntries(keys.map((key) => [key, config[key] as string]))
}

/** The class name in `task.class`, by which a Java worker that takes over the connector finds its task. */
function taskClassOf(plugin: ConnectorPlugin): string {
  return `${listedName(plugin).replace(/Connector$/, '')}Task`
}
