import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KafkaCluster } from '../../env/kafka-cluster.ts'
import { partDirectory } from '../../env/workspace.ts'
import { createJavaClient } from '../../support/java-requests.ts'
import { writeLines } from '../../support/numbered-lines.ts'
import { connectionsOf, occupiedMbOf } from '../../support/process-tree.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import type { Figure } from '../figures.ts'
import { onSecuredCluster } from '../secured-cluster.ts'
import { progress, type Settings } from '../settings.ts'
import { measurePipe, type Pipe, pipeFigure, STRINGS, WORKER_SETTINGS } from './pipe.ts'
import { type Side, sidesOn } from './sides.ts'

/** Half of the tasks are sources with a producer each, half are sinks with a consumer each. */
const SOURCES = 25
const SINKS = 25
const WAIT = { everyMs: 100, timeoutMs: 180_000 }
const NAMES = ['file → topic', 'topic → file', 'file → topic → file'] as const
const STEPS = ['source', 'sink', 'whole'] as const

type ManyTasks = { readonly memoryMb: number; readonly connections: number }

/** The rates of both workers on a secured cluster, and what 50 tasks with connections of TLS need. */
export function benchWorkerOnCluster(settings: Settings): Promise<readonly Figure[]> {
  return onSecuredCluster(settings, measureOnCluster)
}

async function measureOnCluster(settings: Settings, cluster: KafkaCluster): Promise<readonly Figure[]> {
  const input = join(partDirectory('lines'), 'in.txt')
  writeLines(input, settings.records)
  const [weir, connect] = sidesOn(settings)
  const pipes = { ours: [] as Pipe[], java: [] as Pipe[] }
  const tasks = { ours: [] as ManyTasks[], java: [] as ManyTasks[] }
  for (let round = 1; round <= settings.rounds; round++) {
    progress(`worker on a cluster: pipes, round ${round} of ${settings.rounds}`)
    pipes.java.push(await measurePipe(connect, input, settings.records, STRINGS))
    pipes.ours.push(await measurePipe(weir, input, settings.records, STRINGS))
    progress(`worker on a cluster: ${SOURCES + SINKS} tasks, round ${round} of ${settings.rounds}`)
    tasks.java.push(await measureManyTasks(connect, cluster))
    tasks.ours.push(await measureManyTasks(weir, cluster))
  }
  const many = (name: string, unit: Figure['unit'], of: (one: ManyTasks) => number): Figure => ({
    name: `${SOURCES + SINKS} tasks, ${name}`,
    unit,
    ours: tasks.ours.map(of),
    against: { name: 'Java Connect', values: tasks.java.map(of) },
    aim: 1,
  })
  return [
    ...STEPS.map((step, at) => pipeFigure(NAMES[at]!, step, pipes.ours, 'Java Connect', pipes.java, 1)),
    many('memory', 'MB', ({ memoryMb }) => memoryMb),
    many('connections per task', 'connections', ({ connections }) => connections / (SOURCES + SINKS)),
  ]
}

/** Measures a worker when each of its tasks has produced or consumed, so that all of its connections are open. */
async function measureManyTasks(side: Side, cluster: KafkaCluster): Promise<ManyTasks> {
  const topic = `many-${side.name}-${Math.round(performance.now())}`
  await using broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': cluster.bootstrap } })
  await broker.topics.create({ name: topic, partitions: SINKS, replicationFactor: 3 })
  const directory = partDirectory('many')
  const file = join(directory, 'in.txt')
  writeFileSync(file, 'a line\n')
  const worker = await side.start(WORKER_SETTINGS)
  try {
    const client = createJavaClient(worker.url)
    for (let source = 0; source < SOURCES; source++) {
      await client.create(`source-${source}`, { 'connector.class': 'FileStreamSource', file, topic, ...STRINGS })
    }
    const sink = { 'connector.class': 'FileStreamSink', file: join(directory, 'out.txt'), topics: topic }
    await client.create('sink', { ...sink, 'tasks.max': String(SINKS), ...STRINGS })
    await until('all tasks to run', WAIT, async () => {
      const tasks = Object.values(await client.list()).flatMap(({ status }) => status?.tasks ?? [])
      return tasks.length === SOURCES + SINKS && tasks.every(({ state }) => state === 'RUNNING')
    })
    const consumed = async () => (await client.offsets('sink')).reduce((sum, one) => sum + offsetIn(one.offset), 0)
    await until('each source to have produced, and its record to be consumed', WAIT, async () => {
      return (await consumed()) >= SOURCES
    })
    return { memoryMb: occupiedMbOf(worker.pid!), connections: connectionsOf(worker.pid!, portsOf(cluster)) }
  } finally {
    await worker.stop()
  }
}

function offsetIn(offset: Readonly<Record<string, unknown>> | null | undefined): number {
  return Number(offset?.['kafka_offset'] ?? 0)
}

function portsOf({ securedBootstrap }: KafkaCluster): readonly number[] {
  return securedBootstrap.split(',').map((address) => Number(address.split(':')[1]))
}
