import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type ConnectorConfig, createWorkerClient } from '../../src/clients/worker.ts'
import { startJavaConnect } from '../env/java-connect.ts'
import { partDirectory } from '../env/workspace.ts'
import { digestOf, writeLines } from '../support/lines.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'
import type { Figure } from './figures.ts'
import { residentMb } from './memory.ts'
import { progress, type Settings } from './settings.ts'

type Pipe = { readonly source: number; readonly sink: number; readonly whole: number; readonly memoryMb: number }

const WAIT = { everyMs: 20, timeoutMs: 180_000 }
/** How often both workers say how far they are: also how exactly the source's time is known. */
const WORKER_SETTINGS = { 'offset.flush.interval.ms': '250' }
const STRINGS = {
  'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
  'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
}
type Worker = { readonly url: string; readonly pid: number | undefined; stop(): Promise<void> }

const JAVA_JVM = ['-Xms256m', '-Xmx1g', '-XX:+UseSerialGC']

/** A file into a topic and the topic into a file, by our worker and by Java's; memory after both. */
export async function benchPipe({ bootstrap, records, rounds, nodeArgs }: Settings): Promise<readonly Figure[]> {
  const input = join(partDirectory('lines'), 'in.txt')
  writeLines(input, records)
  const java: Pipe[] = []
  const kafka: Pipe[] = []
  const embedded: Pipe[] = []
  const startOurs = (log: readonly string[], groupId: string) =>
    startWorkerProcess({ log, groupId, settings: WORKER_SETTINGS, nodeArgs })
  for (let round = 1; round <= rounds; round++) {
    progress(`pipe: round ${round} of ${rounds}`)
    const groupId = `java-${round}`
    java.push(
      await measure(
        await startJavaConnect({ bootstrap, groupId, properties: WORKER_SETTINGS, jvm: JAVA_JVM }),
        input,
        records,
      ),
    )
    kafka.push(await measure(await startOurs(['--bootstrap', bootstrap], `weir-${round}`), input, records))
    embedded.push(await measure(await startOurs(['--data', partDirectory('data')], 'weir'), input, records))
  }
  const figure = (
    name: string,
    step: keyof Pipe,
    ours: Pipe[],
    beside: string,
    against: Pipe[],
    aim: number,
  ): Figure => ({
    name,
    unit: step === 'memoryMb' ? 'MB' : 'rec/s',
    ours: ours.map((pipe) => pipe[step]),
    against: { name: beside, values: against.map((pipe) => pipe[step]) },
    aim,
  })
  return [
    figure('file → topic, Kafka', 'source', kafka, 'Java Connect', java, 1),
    figure('topic → file, Kafka', 'sink', kafka, 'Java Connect', java, 1),
    figure('file → topic → file, Kafka', 'whole', kafka, 'Java Connect', java, 1),
    figure('file → topic → file, embedded', 'whole', embedded, 'Weir on Kafka', kafka, 1),
    figure('resident memory of the worker', 'memoryMb', kafka, 'Java Connect', java, 1 / 3),
  ]
}

/** Both connectors on one worker, one after the other; times count from the request that makes them. */
async function measure(worker: Worker, input: string, records: number): Promise<Pipe> {
  const client = createWorkerClient({ url: worker.url })
  const output = `${input}.out`
  const topic = `lines-${performance.now()}`
  // A group of its own: one whose last member was killed keeps the next waiting until its session ends.
  const [reading, writing] = [`in-${topic}`, `out-${topic}`]
  const bytes = statSync(input).size
  const fileOf = async (connector: string) => Number((await client.offsets(connector))[0]?.offset?.['position'] ?? 0)
  const timed = async (name: string, config: ConnectorConfig, isDone: () => Promise<boolean> | boolean) => {
    const start = performance.now()
    await client.create(name, { ...config, ...STRINGS })
    await until(`the connector ${name} to be through`, WAIT, isDone)
    return performance.now() - start
  }
  try {
    const source = { 'connector.class': 'FileStreamSource', file: input, topic }
    const sourceMs = await timed(reading, source, async () => (await fileOf(reading)) >= bytes)
    const sink = { 'connector.class': 'FileStreamSink', file: output, topics: topic }
    const sinkMs = await timed(writing, sink, () => existsSync(output) && statSync(output).size >= bytes)
    if ((await digestOf(output)) !== (await digestOf(input))) throw new Error(`${worker.url} changed the lines`)
    const memoryMb = await residentMb(worker.pid)
    return {
      source: (records / sourceMs) * 1000,
      sink: (records / sinkMs) * 1000,
      whole: (records / (sourceMs + sinkMs)) * 1000,
      memoryMb,
    }
  } finally {
    await worker.stop()
    rmSync(output, { force: true })
  }
}
