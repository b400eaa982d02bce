import type { Broker } from '../../src/broker/broker.ts'
import { systemClock } from '../../src/common/clock.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { createCatalog } from '../../src/plugins/plugin-catalog.ts'
import type { RawConfig, SinkConnector, SourceConnector } from '../../src/sdk/index.ts'
import { UNRESTRICTED } from '../../src/sdk/index.ts'
import { TaskRunner } from '../../src/worker/isolation/tasks/task-runner.ts'
import { countersIn } from '../../src/worker/tasks/task-counters.ts'
import type { TaskDefaults, TaskMessage, TaskSpec } from '../../src/worker/tasks/task-spec.ts'
import { whenTestEnds } from './concurrent-tests.ts'
import { SHIPPED } from './shipped-plugins.ts'
import { OPEN_POLICY } from './topic-access.ts'

const STRING = 'org.apache.kafka.connect.storage.StringConverter'

/** Defaults of a worker with text records that commits offsets only when a task stops. */
export const TASK_DEFAULTS: TaskDefaults = {
  workerGroup: 'workers',
  converters: { 'key.converter': STRING, 'value.converter': STRING },
  clients: {},
  offsetsTopic: 'offsets',
  commitIntervalMs: 60_000,
  commitTimeoutMs: 5_000,
  createTopics: true,
  trackTopics: false,
}

/** Task 0 of a connector whose name is its class. `own` overrides fields. */
export function taskSpec(
  plugin: Pick<SourceConnector | SinkConnector, 'class' | 'kind'>,
  config: RawConfig,
  own: Partial<TaskSpec> = {},
): TaskSpec {
  return {
    connector: plugin.class,
    task: 0,
    kind: plugin.kind,
    config: { 'connector.class': plugin.class, ...config },
    secrets: [],
    worker: TASK_DEFAULTS,
    paused: false,
    offsets: [],
    ...own,
  }
}

/** Settings that skip failed records and write them to the dead letter queue `dead`. */
export const DEAD_LETTERS: RawConfig = {
  'errors.tolerance': 'all',
  'errors.deadletterqueue.topic.name': 'dead',
  'errors.deadletterqueue.topic.replication.factor': '1',
}

/** Makes all producers of this broker that are created from now on fail to send to this topic. */
export function rejectRecordsFor(broker: Broker, topic: string): void {
  const open = broker.producer.bind(broker)
  broker.producer = async (options) => {
    const producer = await open(options)
    const send = producer.send.bind(producer)
    producer.send = async (records) => {
      if (records[0]?.topic === topic) throw new Error('the log is full')
      return send(records)
    }
    return producer
  }
}

/** Makes all producers of this broker that are created from now on wait for the functions in `held` before they write to this topic. */
export function holdRecordsFor(broker: Broker, topic: string, held: (() => void)[]): void {
  const open = broker.producer.bind(broker)
  broker.producer = async (options) => {
    const producer = await open(options)
    const send = producer.send.bind(producer)
    producer.send = async (records, onRejected) => {
      if (records[0]?.topic === topic) await new Promise<void>((resolve) => held.push(resolve))
      return send(records, onRejected)
    }
    return producer
  }
}

/** Starts a task of `plugin` in this thread. It is stopped at the end of the test. */
export function startTask(
  broker: Broker,
  plugin: SourceConnector | SinkConnector,
  config: RawConfig,
  own: Partial<TaskSpec> = {},
  topicPolicy = OPEN_POLICY,
) {
  const plugins = createCatalog([...SHIPPED, plugin])
  const runner = new TaskRunner({
    broker,
    topicPolicy: () => topicPolicy,
    loadPlugins: async () => plugins,
    access: UNRESTRICTED,
    logger: silentLogger(),
    clock: systemClock,
  })
  const said: TaskMessage[] = []
  const counters = countersIn()
  const task = runner.start(taskSpec(plugin, config, own), counters, (message) => said.push(message))
  whenTestEnds(() => task.stop())
  return { said, counters, setPaused: (paused: boolean) => task.setPaused(paused), stop: () => task.stop() }
}
