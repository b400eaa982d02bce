import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type ConnectorProperties, createWorkerClient } from '../../../src/clients/worker-client.ts'
import { partDirectory } from '../../env/workspace.ts'
import { digestOf, writeLines } from '../../support/numbered-lines.ts'
import { until } from '../../support/until.ts'
import type { Figure } from '../figures.ts'
import { residentMb } from '../process.ts'
import { progress, type Settings } from '../settings.ts'
import { type BenchWorker, type Side, sidesOn, weirOnItsOwnLog } from './sides.ts'

type Pipe = { readonly source: number; readonly sink: number; readonly whole: number; readonly memoryMb: number }

const WAIT = { everyMs: 20, timeoutMs: 180_000 }
/** Both workers commit offsets at this interval, which is also the resolution of the source's measured time. */
const WORKER_SETTINGS = { 'offset.flush.interval.ms': '250' }
const STRING = 'org.apache.kafka.connect.storage.StringConverter'
const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter'
export const STRINGS = { 'key.converter': STRING, 'value.converter': STRING }
/** Each record contains its schema. */
const JSONS = {
  'key.converter': JSON_CONVERTER,
  'value.converter': JSON_CONVERTER,
  'value.converter.schemas.enable': 'true',
}

/** Copies a file to a topic and the topic to a file, with Weir's worker and with Java's, then measures memory. */
export async function benchPipe(settings: Settings): Promise<readonly Figure[]> {
  const input = join(partDirectory('lines'), 'in.txt')
  writeLines(input, settings.records)
  const [ours, java] = sidesOn(settings)
  const embedded = weirOnItsOwnLog()
  const runs = {
    java: [] as Pipe[],
    ours: [] as Pipe[],
    embedded: [] as Pipe[],
    javaJson: [] as Pipe[],
    json: [] as Pipe[],
  }
  for (let round = 1; round <= settings.rounds; round++) {
    progress(`worker: pipes, round ${round} of ${settings.rounds}`)
    const pipe = (side: Side, converters: ConnectorProperties) => measure(side, input, settings.records, converters)
    runs.java.push(await pipe(java, STRINGS))
    runs.ours.push(await pipe(ours, STRINGS))
    runs.embedded.push(await pipe(embedded, STRINGS))
    runs.javaJson.push(await pipe(java, JSONS))
    runs.json.push(await pipe(ours, JSONS))
  }
  return figuresOf(runs)
}

function figuresOf(runs: Readonly<Record<'java' | 'ours' | 'embedded' | 'javaJson' | 'json', readonly Pipe[]>>) {
  const figure = (
    name: string,
    step: keyof Pipe,
    ours: readonly Pipe[],
    beside: string,
    against: readonly Pipe[],
    aim: number,
  ): Figure => ({
    name,
    unit: step === 'memoryMb' ? 'MB' : 'rec/s',
    ours: ours.map((pipe) => pipe[step]),
    against: { name: beside, values: against.map((pipe) => pipe[step]) },
    aim,
  })
  const { java, ours, embedded, javaJson, json } = runs
  return [
    figure('file → topic, Kafka', 'source', ours, 'Java Connect', java, 1),
    figure('topic → file, Kafka', 'sink', ours, 'Java Connect', java, 1),
    figure('file → topic → file, Kafka', 'whole', ours, 'Java Connect', java, 1),
    figure('file → topic → file, embedded', 'whole', embedded, 'Weir on Kafka', ours, 1),
    figure('file → topic, JSON with schema', 'source', json, 'Java Connect', javaJson, 1),
    figure('topic → file, JSON with schema', 'sink', json, 'Java Connect', javaJson, 1),
    figure('resident memory after strings', 'memoryMb', ours, 'Java Connect', java, 1 / 3),
  ]
}

/** Runs both connectors on one worker, sequentially. Times start at the request that creates the connector. */
async function measure(side: Side, input: string, records: number, converters: ConnectorProperties): Promise<Pipe> {
  const worker = await side.start(WORKER_SETTINGS)
  const output = `${input}.out`
  try {
    const { sourceMs, sinkMs } = await throughOf(worker, input, output, converters)
    return {
      source: (records / sourceMs) * 1000,
      sink: (records / sinkMs) * 1000,
      whole: (records / (sourceMs + sinkMs)) * 1000,
      memoryMb: await residentMb(worker.pid),
    }
  } finally {
    await worker.stop()
    rmSync(output, { force: true })
  }
}

/** Copies a file to a topic and the topic to a file. Returns the times from the request that creates each connector. */
export async function throughOf({ url }: BenchWorker, input: string, output: string, converters: ConnectorProperties) {
  const client = createWorkerClient({ url })
  const topic = `lines-${performance.now()}`
  // Uses a new group, because in a group with a killed member it would wait for the session timeout.
  const [reading, writing] = [`in-${topic}`, `out-${topic}`]
  const bytes = statSync(input).size
  const fileOf = async (connector: string) => Number((await client.offsets(connector))[0]?.offset?.['position'] ?? 0)
  const timed = async (name: string, config: ConnectorProperties, isDone: () => Promise<boolean> | boolean) => {
    const start = performance.now()
    await client.create(name, { ...config, ...converters })
    await until(`the connector ${name} to be through`, WAIT, isDone)
    return performance.now() - start
  }
  const source = { 'connector.class': 'FileStreamSource', file: input, topic }
  const sourceMs = await timed(reading, source, async () => (await fileOf(reading)) >= bytes)
  const sink = { 'connector.class': 'FileStreamSink', file: output, topics: topic }
  const sinkMs = await timed(writing, sink, () => existsSync(output) && statSync(output).size >= bytes)
  if ((await digestOf(output)) !== (await digestOf(input))) throw new Error(`${url} changed the lines`)
  return { sourceMs, sinkMs }
}
