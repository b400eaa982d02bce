import { availableParallelism } from 'node:os'
import type { Broker } from '../../broker/broker.ts'
import { systemClock } from '../../common/clock.ts'
import type { Lifecycle } from '../../common/lifecycle.ts'
import type { ConnectorAccess } from '../host-access/connector-access.ts'
import { connectorAccess } from '../host-access/connector-access-settings.ts'
import { javaLocationsOf } from '../isolation/java/java-locations.ts'
import { javaLogLevels } from '../isolation/java/java-log-levels.ts'
import { JavaTaskHost } from '../isolation/java/java-task-host.ts'
import { modulesOf } from '../isolation/plugin-modules.ts'
import { pluginLimits, taskLogLimits } from '../isolation/plugins/plugin-limits.ts'
import { ProcessPluginHost, type ProcessPluginHostOptions } from '../isolation/plugins/process-plugin-host.ts'
import { TaskProcess } from '../isolation/tasks/task-process.ts'
import { TaskProcessPool, type TaskProcessPoolOptions } from '../isolation/tasks/task-process-pool.ts'
import type { LogLevels } from '../observability/log-levels.ts'
import type { PluginHost } from '../plugin-host.ts'
import type { WorkerSettings } from '../settings.ts'
import type { TaskHost, TaskSpec } from '../tasks/task-spec.ts'
import type { TopicPolicies } from '../topic-access/topic-policies.ts'

export type LoadedPluginHost = PluginHost &
  Pick<ProcessPluginHost, 'modules' | 'faults'> & {
    readonly java?: Pick<ProcessPluginHost['java'], 'lease' | 'has' | 'setOffsetReader' | 'metrics' | 'exits'>
    close(): Promise<void> | void
  }

export type IsolationOptions = {
  readonly settings: WorkerSettings
  readonly broker: Broker
  readonly topics: TopicPolicies
  readonly levels: LogLevels
  readonly life: Lifecycle
  /** Opens the plugins. Default: in processes of their own. */
  readonly openPlugins?: ((options: ProcessPluginHostOptions) => Promise<LoadedPluginHost>) | undefined
  /** Starts a process for tasks. Default: one of the operating system. */
  readonly openTaskProcess?: TaskProcessPoolOptions['open'] | undefined
  /** Files and directories of the worker that no setting names, such as its configuration file. Connectors may not use them. */
  readonly ownFiles?: readonly string[] | undefined
}

export type WorkerIsolation = {
  readonly access: ConnectorAccess
  readonly plugins: LoadedPluginHost
  readonly tasks: TaskHost
  /** Starts a process for the first task. */
  warmUp(): void
}

/** Opens the processes in which the code of plugins and tasks runs. */
export async function openIsolation(options: IsolationOptions): Promise<WorkerIsolation> {
  const { settings, broker, topics, levels, life, openPlugins = ProcessPluginHost.open, ownFiles } = options
  const { openTaskProcess = (own) => new TaskProcess(own) } = options
  const { values } = settings
  const access = connectorAccess(settings, ownFiles)
  const logger = levels.logger('weir.worker.plugins')
  const limits = pluginLimits(values)
  const logging = { logger: levels.unfiltered(), levels: javaLogLevels(levels) }
  const plugins = await openPlugins({
    ...limits,
    java: { ...limits.java, logging },
    access,
    logger,
    clock: systemClock,
  })
  life.onStop('plugins', () => plugins.close())
  const pool = new TaskProcessPool({
    java: plugins.modules.java,
    modulesOf: (spec) => modulesOf(spec, plugins.catalog, plugins.modules.urls),
    access,
    topics,
    logger: levels.logger('weir.worker.tasks'),
    address: () => broker.address(),
    open: openTaskProcess,
    threads: values['worker.threads'] ?? availableParallelism(),
    memoryMbMax: values['worker.thread.memory.mb'],
    blockedMsMax: values['worker.thread.blocked.max.ms'],
    startMsMax: values['worker.task.start.timeout.ms'],
    stopMsMax: values['task.shutdown.graceful.timeout.ms'],
    log: taskLogLimits(values),
  })
  life.onStop('task processes', () => pool.close())
  return { access, plugins, tasks: withJava(pool, plugins), warmUp: () => pool.warmUp() }
}

function withJava(tasks: TaskHost, { java, catalog }: LoadedPluginHost): TaskHost {
  if (java === undefined) return tasks
  const locationsOf = (spec: TaskSpec) => javaLocationsOf(spec, catalog, java)
  return new JavaTaskHost({ tasks, locationsOf, lease: (location) => java.lease(location), clock: systemClock })
}
