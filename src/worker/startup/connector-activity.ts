import { randomUUID } from 'node:crypto'
import { systemClock } from '../../common/clock.ts'
import type { Lifecycle } from '../../common/lifecycle.ts'
import { type Logger, onLogLine } from '../../common/logging/logger.ts'
import { PeriodicTask } from '../../common/periodic-task.ts'
import type { ChangeFeed } from '../../console/change-feed.ts'
import type { WorkRunner } from '../herder/work-runner.ts'
import type { PeerClient } from '../membership/peer-client.ts'
import { ConnectorLogs } from '../observability/connector-logs.ts'
import { MetricsHistory, SAMPLE_INTERVAL_MS } from '../observability/metrics-history.ts'
import type { ConnectorActivityRoutes } from '../routes/connector-activity.ts'
import type { ConfigState } from '../stores/config-state.ts'
import type { GroupReference } from './group-reference.ts'
import type { WorkerEvents } from './worker-events.ts'

export type ConnectorActivityOptions = {
  readonly logger: Logger
  readonly life: Lifecycle
  readonly events: WorkerEvents
  readonly configs: ConfigState
  readonly runner: Pick<WorkRunner, 'tasks'>
  readonly group: GroupReference
  readonly peers: PeerClient
  readonly changes: ChangeFeed
}

/** Begins to keep the metrics of the last hour and the last log lines of each connector for the console. */
export function startConnectorActivity(options: ConnectorActivityOptions): ConnectorActivityRoutes {
  const { logger, life, events, configs, runner, group, peers, changes } = options
  const history = new MetricsHistory(systemClock)
  const logs = new ConnectorLogs(systemClock.monotonicMs, (name) => changes.publish({ kind: 'log', name }))
  life.onStop(
    'connector logs',
    onLogLine(logger, (line) => logs.add(line)),
  )
  const sampling = new PeriodicTask(systemClock)
  let used = process.cpuUsage()
  let cpu = 0
  sampling.start(() => {
    history.sample(runner.tasks.values())
    const { user, system } = process.cpuUsage(used)
    used = process.cpuUsage()
    cpu = (user + system) / 1_000 / SAMPLE_INTERVAL_MS
    return SAMPLE_INTERVAL_MS
  }, SAMPLE_INTERVAL_MS)
  life.onStop('metrics history', () => sampling.stop())
  // A later connector of the same name may belong to somebody else.
  events.on('configRecord', (record) => {
    if (record.kind !== 'connector' || record.config !== null) return
    history.delete(record.connector)
    logs.delete(record.connector)
  })
  return {
    history,
    logs,
    group: group.current,
    peers,
    exists: (name) => configs.connector(name) !== undefined,
    startedTasks: (name) =>
      [...runner.tasks.values()]
        .filter(({ id }) => id.connector === name)
        .map(({ id, startedMs }) => ({ task: id.task, startedMs })),
    processLoad: () => ({ cpu, memoryBytes: process.memoryUsage.rss() }),
    workerId: () => group.workerId,
    runId: randomUUID(),
  }
}
