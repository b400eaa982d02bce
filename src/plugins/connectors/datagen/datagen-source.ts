import { setTimeout as sleep } from 'node:timers/promises'
import { randomAt } from '../../../java-compat/avro-random-generator/random.ts'
import {
  createRecordGenerator,
  type RecordGenerator,
} from '../../../java-compat/avro-random-generator/record-generator.ts'
import { plainJson } from '../../../java-compat/json/connect-json-writer.ts'
import {
  type ConfigProblem,
  defineSource,
  type FileAccess,
  field,
  type Position,
  type SourceRecord,
  z,
} from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { QUICKSTART_NAMES, quickstart } from './quickstarts/quickstarts.ts'

const BATCH_MAX = 2000
/** Interval at which due records are generated when a rate is set. */
const TICK_MS = 50

const SCHEMA_KEYS = ['quickstart', 'schema.string', 'schema.filename'] as const

const config = z
  .object({
    'kafka.topic': field.text({
      reaches: 'written topic',
      doc: 'Topic to write to.',
      importance: 'HIGH',
      nonEmpty: true,
    }),
    quickstart: field
      .oneOf(QUICKSTART_NAMES, {
        doc: 'Name of a built-in schema. Default if no schema is set: orders.',
        importance: 'HIGH',
      })
      .optional(),
    'schema.string': field
      .text({
        doc: 'Avro schema of the records, instead of quickstart. Its arg.properties describe the values to generate.',
      })
      .optional(),
    'schema.filename': field
      .path({ doc: 'Path of a file on the worker that contains such a schema, instead of schema.string.' })
      .optional(),
    'schema.keyfield': field
      .text({
        doc: 'Field whose value becomes the key. Default: the key field of the quickstart; no key with a custom schema.',
      })
      .default(''),
    'max.interval': field
      .long({
        doc: 'Maximum pause between two records, in ms. Each pause is random. 0 disables pauses.',
        importance: 'HIGH',
        min: 0,
      })
      .default(500),
    rate: field
      .double({ doc: 'Records per second, instead of random pauses.', importance: 'HIGH', min: 0.001 })
      .optional(),
    iterations: field
      .long({
        doc: 'Number of records that each task generates before it ends. -1: unlimited.',
        importance: 'HIGH',
        min: -1,
      })
      .default(-1),
    'random.seed': field
      .long({ doc: 'Seed of the random numbers. The same seed generates the same records.', importance: 'LOW' })
      .default(0),
  })
  .superRefine((settings, context) => {
    for (const { key, message } of problemsOf(settings)) field.addProblem(context, key, message)
  })

type Config = z.infer<typeof config>

/** Generates random records. Continues at the stored offset, and generates the same records for the same seed. */
export const datagen = defineSource({
  class: 'Datagen',
  aliases: ['io.confluent.kafka.connect.datagen.DatagenConnector', 'DatagenConnector'],
  version: SHIPPED_VERSION,
  summary: 'Generates random records at a configured rate.',
  notes: `
Each task generates its own sequence of records and continues it after a restart: the offset of \`{"task.id": N}\` has the
number of its records, \`current.iteration\`, and the seed. The same seed generates the same records. A task ends after \`iterations\` records.

The member \`arg.properties\` of a type in a custom schema describes its values, as in Confluent's generator: \`options\` (a list); \`range\`
(\`min\` and an exclusive \`max\`) of numbers and decimals; \`iteration\` (\`start\`, \`step\`, \`restart\`, \`initial\`) of numbers, strings and
booleans; \`regex\`, \`prefix\` and \`suffix\` of strings; \`length\` of strings, bytes, arrays and maps; \`keys\` of maps; \`odds\` of booleans.
Other members are rejected. Differences from the original: an iteration advances once per record, even if a record contains several of its
values, and options are not read from files.
`,
  config,
  tasks: (_config, tasksMax, raw) => Array.from({ length: tasksMax }, () => raw),
  async *poll({ config, task, signal, resumeFrom, files }) {
    const { record, schema, keySchema } = streamOf(config, files)
    const seed = config['random.seed']
    const sourcePartition = { 'task.id': task }
    const end = config.iterations < 0 ? Number.MAX_SAFE_INTEGER : config.iterations
    let index = startIndex(resumeFrom(sourcePartition))
    const make = (): SourceRecord => {
      const { key, value } = record(index, randomAt(seed + task, index))
      index += 1
      const sourceOffset = { 'current.iteration': index, 'random.seed': seed }
      return { topic: config['kafka.topic'], key, keySchema, value, valueSchema: schema, sourcePartition, sourceOffset }
    }
    const due = pace(config, seed)
    while (!signal.aborted && index < end) {
      const count = Math.min(await due(signal), end - index)
      yield Array.from({ length: signal.aborted ? 0 : count }, make)
    }
  },
  alterOffsets(_config, offsets) {
    for (const { offset } of offsets) if (offset !== null) startIndex(offset)
  },
})

function streamOf(settings: Config, files: FileAccess | undefined): RecordGenerator {
  const key = settings['schema.keyfield']
  const file = settings['schema.filename']
  const own = file === undefined || files === undefined ? settings['schema.string'] : schemaIn(file, files)
  if (own !== undefined) return createRecordGenerator(own, key)
  const { avroText, keyField } = quickstart(settings.quickstart ?? 'orders')
  return createRecordGenerator(avroText, key || keyField)
}

function schemaIn(file: string, files: FileAccess): string {
  try {
    return files.readFileSync(file).toString()
  } catch (error) {
    const reason = `${(error as Error).message}: copy the schema to this path on every worker, or set schema.string`
    throw new Error(`cannot read the schema of schema.filename (${reason})`, { cause: error })
  }
}

/** Problems that involve several keys. A schema file is read by the task only: it may exist on another worker. */
function problemsOf(settings: Config): readonly ConfigProblem[] {
  const given = SCHEMA_KEYS.filter((key) => settings[key] !== undefined)
  if (given.length > 1)
    return [{ key: given[1]!, message: `${given.join(' and ')} are set, but only one of them is allowed` }]
  if (settings['schema.filename'] !== undefined) return []
  try {
    streamOf(settings, undefined)
    return []
  } catch (error) {
    const key = settings['schema.string'] === undefined ? 'schema.keyfield' : 'schema.string'
    return [{ key, message: `Invalid value for configuration ${key}: ${(error as Error).message}` }]
  }
}

/** Waits until records are due and returns their number. */
type Pace = (signal: AbortSignal) => Promise<number>

function pace({ rate, 'max.interval': maxIntervalMs }: Config, seed: number): Pace {
  if (rate !== undefined) return steadily(rate)
  if (maxIntervalMs === 0) return async () => BATCH_MAX
  let pauses = 0
  return async (signal) => {
    pauses += 1
    await pause(randomAt(seed, pauses).below(maxIntervalMs + 1), signal)
    return 1
  }
}

/** A constant rate that begins at once. After a delay, at most one batch of overdue records is generated. */
function steadily(rate: number): Pace {
  const intervalMs = 1000 / rate
  const tickMs = Math.min(TICK_MS, (BATCH_MAX / 2) * intervalMs)
  let nextMs = performance.now()
  return async (signal) => {
    if (nextMs > performance.now()) await pause(Math.max(tickMs, nextMs - performance.now()), signal)
    const nowMs = performance.now()
    nextMs = Math.max(nextMs, nowMs - BATCH_MAX * intervalMs)
    const count = Math.min(BATCH_MAX, Math.max(0, Math.floor((nowMs - nextMs) / intervalMs) + 1))
    nextMs += count * intervalMs
    return count
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}

function startIndex(offset: Position | undefined): number {
  const index = offset?.['current.iteration'] ?? 0
  if (Number.isSafeInteger(index) && (index as number) >= 0) return index as number
  throw new Error(`'current.iteration' of an offset must be a non-negative integer, not ${plainJson(index)}`)
}
