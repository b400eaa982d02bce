import { silentLogger } from '../../src/common/logging/logger.ts'
import { SecretMasker } from '../../src/common/secrets/secret-masker.ts'
import type { RawConfig } from '../../src/sdk/index.ts'
import type { ConfigResolver } from '../../src/worker/configuration/config-resolver.ts'
import { LiteralSecrets } from '../../src/worker/configuration/literal-secrets.ts'
import { WorkRunner, type WorkRunnerOptions } from '../../src/worker/herder/work-runner.ts'
import { ConfigState } from '../../src/worker/stores/config-state.ts'
import type { ConfigStore } from '../../src/worker/stores/config-store.ts'
import { ConnectorChanges } from '../../src/worker/stores/connector-changes.ts'
import type { OffsetStore } from '../../src/worker/stores/offset-store.ts'
import type { StatusKey, StoredStatus } from '../../src/worker/stores/status-codec.ts'
import { parseStatusRecord, toStatusKey, toStatusValue } from '../../src/worker/stores/status-codec.ts'
import { StatusState } from '../../src/worker/stores/status-state.ts'
import type { StatusStore } from '../../src/worker/stores/status-store.ts'
import { countersIn } from '../../src/worker/tasks/task-counters.ts'
import type { TaskMessage, TaskSpec } from '../../src/worker/tasks/task-spec.ts'
import { FakeClock } from './fake-clock.ts'
import { localPluginHost } from './plugin-host.ts'
import { TASK_DEFAULTS } from './task.ts'

export const SOURCE: RawConfig = { 'connector.class': 'Datagen', 'kafka.topic': 't', name: 'c' }

/** A task controlled by the test. */
export type FakeTask = {
  readonly spec: TaskSpec
  readonly report: (message: TaskMessage) => void
  readonly done: string[]
}

/** Creates a `WorkRunner` with in-memory stores and fake tasks. */
export function createTestWorkRunner(changes: Partial<WorkRunnerOptions> = {}) {
  const configs = new ConfigState()
  const statuses = new StatusState()
  const written: string[] = []
  const tasks: FakeTask[] = []
  const stored: string[] = []
  const clock = new FakeClock()
  const put = async (key: Extract<StatusKey, { kind: 'connector' | 'task' }>, status: StoredStatus) => {
    written.push(`${key.kind === 'task' ? `${key.connector}-${key.task}` : key.connector} ${status.state}`)
    statuses.apply(parseStatusRecord(toStatusKey(key), toStatusValue(status))!)
  }
  const parts: WorkRunnerOptions = {
    plugins: localPluginHost(),
    logger: silentLogger(),
    clock,
    resolver: {
      resolve: async (config: RawConfig) => ({ config, placeholderValues: new Map() }),
      mask: (text: string) => text,
      release: () => undefined,
      hasPlaceholders: () => false,
    } as unknown as ConfigResolver,
    literals: new LiteralSecrets(localPluginHost().catalog, new SecretMasker()),
    configs: {
      state: configs,
      changes: new ConnectorChanges(),
      readToEnd: async () => undefined,
      traceparentOf: () => undefined,
    } as unknown as ConfigStore,
    statuses: { state: statuses, put, putSafe: put, putTopic: async () => undefined } as unknown as StatusStore,
    offsets: { of: async () => [], refresh: async () => void written.push('offsets') } as unknown as OffsetStore,
    defaults: TASK_DEFAULTS,
    host: {
      start(spec, say) {
        const done: string[] = []
        tasks.push({ spec, report: say, done })
        return {
          pause: () => void done.push('pause'),
          resume: () => void done.push('resume'),
          stop: async () => void done.push('stop'),
          cancel: () => void done.push('cancel'),
          counters: countersIn,
        }
      },
    },
    workerId: () => 'me:1',
    generation: () => 1,
    putTasks: async (connector, made) => void stored.push(`${connector} ${made.length}`),
    fence: undefined,
    stopTimeoutMs: 10,
    sessionTimeoutMs: 10_000,
    onInterrupted: () => undefined,
    ...changes,
  }
  return { runner: new WorkRunner(parts), parts, configs, statuses, written, tasks, stored, clock }
}

/** Configures a connector `c` with this number of tasks. */
let taskSets = 0

export function addConnector(configs: ConfigState, tasks: number, config: RawConfig = SOURCE): void {
  const isFirst = configs.connector('c') === undefined
  configs.apply({ kind: 'connector', connector: 'c', config })
  // Each set of tasks is another one.
  const taskConfig = isFirst ? config : { ...config, set: String(taskSets++) }
  for (let task = 0; task < tasks; task++) configs.apply({ kind: 'task', connector: 'c', task, config: taskConfig })
  configs.apply({ kind: 'commit', connector: 'c', tasks })
}
