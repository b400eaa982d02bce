import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { fileStreamSource } from '../../../src/plugins/connectors/file-stream/file-stream-source.ts'
import { findConnector } from '../../../src/worker/configuration/connector-plugin.ts'
import { generateTaskConfigs } from '../../../src/worker/herder/generate-task-configs.ts'
import type { ConfigRecord } from '../../../src/worker/stores/config-codec.ts'
import { ConfigStore } from '../../../src/worker/stores/config-store.ts'
import { partDirectory } from '../../env/workspace.ts'
import { localPluginHost } from '../../support/plugin-host.ts'
import { occupiedMbOf } from '../../support/process-tree.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { median } from '../figures.ts'
import type { Settings } from '../settings.ts'
import type { BenchWorker, Side } from './sides.ts'

const TASKS = 500
const CONNECTORS = 1_000
const REQUESTS = 20
/** Wait before memory is measured, so that idle processes have ended and garbage is collected. */
const SETTLED_MS = 15_000
const WAIT = { everyMs: 50, timeoutMs: 180_000 }
/** The tasks of a worker that leaves are reassigned immediately. */
const SETTINGS = { 'scheduled.rebalance.max.delay.ms': '0' }
const STRING = 'org.apache.kafka.connect.storage.StringConverter'

/** Measures the time until a second worker that joins has half of `TASKS` tasks, and until one has all again. */
export async function measureRebalance(settings: Settings, side: Side) {
  const groupId = await writeConnectors(settings, side, TASKS, 'STARTED')
  const first = await side.start(SETTINGS, groupId)
  try {
    await untilShared(first, [TASKS])
    const second = await side.start(SETTINGS, groupId)
    const joinedMs = performance.now()
    await untilShared(first, [TASKS / 2, TASKS / 2])
    const joinMs = performance.now() - joinedMs
    const leftMs = performance.now()
    process.kill(second.pid!, 'SIGTERM')
    await untilShared(first, [TASKS])
    const leaveMs = performance.now() - leftMs
    await second.stop()
    return { joinMs, leaveMs }
  } finally {
    await first.stop()
  }
}

/** Measures the response time of the expanded list of stopped connectors, which user interfaces poll, and their memory. */
export async function measureAnswers(settings: Settings, side: Side) {
  const groupId = await writeConnectors(settings, side, CONNECTORS, 'STOPPED')
  const worker = await side.start(SETTINGS, groupId)
  try {
    const client = createWorkerClient({ url: worker.url, timeoutMs: 60_000 })
    await until('all connectors to have a status', WAIT, async () => {
      const all = Object.values(await client.list())
      return all.filter(({ status }) => status?.connector.state === 'STOPPED').length === CONNECTORS
    })
    const times: number[] = []
    for (let at = 0; at < REQUESTS; at++) {
      const startMs = performance.now()
      await (await fetch(`${worker.url}/connectors?expand=info&expand=status`)).arrayBuffer()
      times.push(performance.now() - startMs)
    }
    await sleep(SETTLED_MS)
    return { answerMs: median(times), stoppedMb: occupiedMbOf(worker.pid!) }
  } finally {
    await worker.stop()
  }
}

/** Writes connectors to the config topic, as a worker would. Each has one task, which waits for a file. */
async function writeConnectors({ bootstrap }: Settings, side: Side, count: number, target: 'STARTED' | 'STOPPED') {
  await using broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
  const groupId = `${side.name}-${count}-${Math.round(performance.now())}`
  const topic = { name: `${groupId}-configs`, replicationFactor: 1 }
  const store = await ConfigStore.open({ broker, logger: silentLogger(), topic, onRecord: () => undefined })
  const file = join(partDirectory('waiting'), 'in.txt')
  const records: ConfigRecord[] = []
  const plugins = localPluginHost([fileStreamSource])
  const source = findConnector(plugins.catalog, { 'connector.class': 'FileStreamSource' })!
  for (let at = 0; at < count; at++) {
    const connector = `waits-${at}`
    const own = { name: connector, 'connector.class': 'FileStreamSource', file, topic: 'waiting' }
    const config = { ...own, 'key.converter': STRING, 'value.converter': STRING }
    const { configs: tasks } =
      target === 'STOPPED' ? { configs: [] } : await generateTaskConfigs(plugins, source, config)
    records.push(
      { kind: 'target', connector, target },
      { kind: 'connector', connector, config },
      ...tasks.map((task): ConfigRecord => ({ kind: 'task', connector, task: 0, config: task })),
      { kind: 'commit', connector, tasks: tasks.length },
    )
  }
  await store.write(records)
  await store.close()
  return groupId
}

/** Waits until the numbers of running tasks per worker are `wanted`. */
async function untilShared({ url }: BenchWorker, wanted: readonly number[]): Promise<void> {
  const client = createWorkerClient({ url, timeoutMs: 60_000 })
  await until(`${wanted} tasks to run`, WAIT, async () => {
    const tasks = Object.values(await client.list().catch(() => ({}))).flatMap(({ status }) => status?.tasks ?? [])
    const running = tasks.filter(({ state }) => state === 'RUNNING')
    const places = [...Map.groupBy(running, ({ worker_id }) => worker_id).values()].map(({ length }) => length)
    return places.length === wanted.length && places.every((length, at) => length === wanted[at])
  })
}
