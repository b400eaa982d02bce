import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type ConnectorProperties, createWorkerClient } from '../../../src/clients/worker-client.ts'
import { partDirectory } from '../../env/workspace.ts'
import { digestOf, writeLines } from '../../support/numbered-lines.ts'
import { startRegistryProcess } from '../../support/registry-process.ts'
import { until } from '../../support/until.ts'
import type { Figure } from '../figures.ts'
import { residentMb } from '../process.ts'
import { progress, type Settings } from '../settings.ts'
import { type BenchWorker, type Side, sidesOn, weirOnItsOwnLog } from './sides.ts'

export type Pipe = { readonly source: number; readonly sink: number; readonly whole: number; readonly memoryMb: number }

type Runs = Record<'java' | 'ours' | 'embedded' | 'javaJson' | 'json' | 'avro', Pipe[]>

const WAIT = { everyMs: 20, timeoutMs: 180_000 }
/** Both workers commit offsets at this interval, which is also the resolution of the source's measured time. */
export const WORKER_SETTINGS = { 'offset.flush.interval.ms': '250' }
const STRING = 'org.apache.kafka.connect.storage.StringConverter'
const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter'
const AVRO = 'io.confluent.connect.avro.AvroConverter'
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
  const registry = await startRegistryProcess(['--bootstrap', settings.bootstrap], {
    'brokerstore.topic': `_schemas-pipe-${process.pid}`,
  })
  const avro = { 'key.converter': STRING, 'value.converter': AVRO, 'value.converter.schema.registry.url': registry.url }
  const runs: Runs = { java: [], ours: [], embedded: [], javaJson: [], json: [], avro: [] }
  try {
    for (let round = 1; round <= settings.rounds; round++) {
      progress(`worker: pipes, round ${round} of ${settings.rounds}`)
      const pipe = (side: Side, converters: ConnectorProperties) =>
        measurePipe(side, input, settings.records, converters)
      runs.java.push(await pipe(java, STRINGS))
      runs.ours.push(await pipe(ours, STRINGS))
      runs.embedded.push(await pipe(embedded, STRINGS))
      runs.javaJson.push(await pipe(java, JSONS))
      runs.json.push(await pipe(ours, JSONS))
      runs.avro.push(await pipe(ours, avro))
    }
  } finally {
    await registry.stop()
  }
  return figuresOf(runs)
}

function figuresOf({ java, ours, embedded, javaJson, json, avro }: Readonly<Runs>): readonly Figure[] {
  return [
    pipeFigure('file → topic, Kafka', 'source', ours, 'Java Connect', java, 1),
    pipeFigure('topic → file, Kafka', 'sink', ours, 'Java Connect', java, 1),
    pipeFigure('file → topic → file, Kafka', 'whole', ours, 'Java Connect', java, 1),
    pipeFigure('file → topic → file, embedded', 'whole', embedded, 'Weir on Kafka', ours, 0.5),
    pipeFigure('file → topic, JSON with schema', 'source', json, 'Java Connect', javaJson, 1),
    pipeFigure('topic → file, JSON with schema', 'sink', json, 'Java Connect', javaJson, 1),
    pipeFigure('file → topic → file, JSON with schema', 'whole', json, 'Java Connect', javaJson, 1),
    // Confluent's converter is not in Maven Central, so that Java has no side of its own here.
    pipeFigure('file → topic → file, Avro', 'whole', avro, 'Java Connect, JSON with schema', javaJson, 1),
    pipeFigure('resident memory after strings', 'memoryMb', ours, 'Java Connect', java, 1 / 3),
  ]
}

export function pipeFigure(
  name: string,
  step: keyof Pipe,
  ours: readonly Pipe[],
  beside: string,
  against: readonly Pipe[],
  aim: number,
): Figure {
  return {
    name,
    unit: step === 'memoryMb' ? 'MB' : 'rec/s',
    ours: ours.map((pipe) => pipe[step]),
    against: { name: beside, values: against.map((pipe) => pipe[step]) },
    aim,
  }
}

/** Runs both connectors on one worker, sequentially. Times start at the request that creates the connector. */
export async function measurePipe(
  side: Side,
  input: string,
  records: number,
  converters: ConnectorProperties,
): Promise<Pipe> {
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
