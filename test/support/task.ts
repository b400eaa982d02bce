import { onTestFinished } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { systemClock } from '../../src/config/clock.ts'
import { silentLogger } from '../../src/config/logger.ts'
import { createCatalog } from '../../src/plugins/catalog.ts'
import { SHIPPED } from '../../src/plugins/shipped.ts'
import type { RawConfig, SinkConnector, SourceConnector } from '../../src/sdk/index.ts'
import { UNRESTRICTED } from '../../src/sdk/index.ts'
import { TaskRunner } from '../../src/worker/isolation/tasks/task-runner.ts'
import { countersIn } from '../../src/worker/tasks/task-counters.ts'
import type { TaskDefaults, TaskMessage, TaskSpec } from '../../src/worker/tasks/task-spec.ts'

const STRING = 'org.apache.kafka.connect.storage.StringConverter'

/** Of a worker whose records are texts and that commits when a task stops. */
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

/** The first task of a connector that is called as its class, unless `own` says otherwise. */
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

/** Of a task that steps over what fails, but for a copy in the topic 'dead'. */
export const DEAD_LETTERS: RawConfig = {
  'errors.tolerance': 'all',
  'errors.deadletterqueue.topic.name': 'dead',
  'errors.deadletterqueue.topic.replication.factor': '1',
}

/** From now on no producer of this broker gets a record into this topic. */
export function refuseRecordsFor(broker: Broker, topic: string): void {
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

/** A task of the running test's own plugin, in this thread. It ends with the test. */
export function startTask(
  broker: Broker,
  plugin: SourceConnector | SinkConnector,
  config: RawConfig,
  own: Partial<TaskSpec> = {},
) {
  const plugins = createCatalog([...SHIPPED, plugin])
  const runner = new TaskRunner({ broker, plugins, access: UNRESTRICTED, logger: silentLogger(), clock: systemClock })
  const said: TaskMessage[] = []
  const counters = countersIn()
  const task = runner.start(taskSpec(plugin, config, own), counters, (message) => said.push(message))
  onTestFinished(() => task.stop())
  return { said, counters, stop: () => task.stop() }
}
