import type { ConnectorProperties } from '../../../src/clients/worker-client.ts'
import type { DebeziumConnector } from '../../env/debezium.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { type Figure, median } from '../figures.ts'
import { debeziumPluginPath } from '../java-plugins/cases.ts'
import { progress, type Settings } from '../settings.ts'
import { type Side, sidesOn } from '../worker/sides.ts'
import {
  ConverterChoice,
  type Converters,
  type ConvertersName,
  installConverters,
  parseConverterNames,
} from './converters.ts'
import { type Latency, measureLatency } from './latency.ts'
import { measureRates, type Rates } from './rates.ts'
import { SourceDatabase } from './source-database.ts'

/** A change event with its schema has ten times the size of the records of other benchmarks. */
const RECORDS_PER_ROW = 10
const WORKER_SETTINGS = { 'offset.flush.interval.ms': '1000' }

export type Compared = { readonly ours: Rates; readonly debezium: Rates }
type Round = {
  /** In the order of the converter settings. */
  readonly rates: readonly Compared[]
  readonly copy: number
  readonly receive: number
  readonly latency: readonly Latency[]
}

/** Compares the PostgreSQL change data capture of Weir with Debezium, and with PostgreSQL's own programs, on the same server and Kafka. */
export async function benchCdc(settings: Settings): Promise<readonly Figure[]> {
  const rows = Math.ceil(settings.records / RECORDS_PER_ROW)
  // Changes come in groups of an insert, an update and a delete of each row.
  const changes = Math.ceil(rows / 3) * 3
  const names = parseConverterNames(settings.converters)
  const sides = await sidesWithDebezium(settings, names)
  await using converters = await ConverterChoice.start(names)
  await using database = await SourceDatabase.start(rows)
  await using broker = await openDisposableBroker({
    kind: 'kafka',
    config: { 'bootstrap.servers': settings.bootstrap },
  })
  const rounds: Round[] = []
  for (let round = 1; round <= settings.rounds; round++) {
    const copy = (rows / (await database.copyMs())) * 1_000
    const receive = await receiveRate(database, changes, round)
    const rates: Compared[] = []
    for (const choice of converters.all) {
      const measure = async (side: Side, properties: ConnectorProperties) => {
        progress(`cdc: ${side.name}, ${choice.title}, round ${round} of ${settings.rounds}`)
        const measured = await measureRates({ side, database, broker, converters: properties, rows, changes })
        await database.dropSlots()
        return measured
      }
      const [ours, debezium] = sides
      rates.push({
        ours: await measure(ours, choice.ours),
        debezium: await measure(debezium, choice.debezium),
      })
    }
    progress(`cdc: latency, round ${round} of ${settings.rounds}`)
    const latency = await measureLatency(sides, database, broker)
    await database.dropSlots()
    rounds.push({ rates, copy, receive, latency })
  }
  return [...converters.all.flatMap((choice, at) => rateFigures(choice, at, rounds)), ...latencyFigures(rounds)]
}

async function receiveRate(database: SourceDatabase, changes: number, round: number): Promise<number> {
  const slot = `recvlogical_${round}`
  await database.client.query('TRUNCATE changed')
  await database.createSlot(slot)
  await database.change(changes)
  const ms = await database.receiveMs(slot)
  await database.dropSlots()
  return (changes / ms) * 1_000
}

export async function sidesWithDebezium(
  settings: Settings,
  names: readonly ConvertersName[],
  connector: DebeziumConnector = 'postgres',
): Promise<readonly [ours: Side, debezium: Side]> {
  const [ours, java] = sidesOn(settings)
  const pluginPath = await debeziumPluginPath(connector)
  await installConverters(names, pluginPath)
  // Apicurio's converter is found by a scan only.
  const plugins = { 'plugin.path': pluginPath, 'plugin.discovery': 'hybrid_warn' }
  return [
    { name: 'weir', start: (own, groupId) => ours.start({ ...WORKER_SETTINGS, ...own }, groupId) },
    { name: 'debezium', start: (own, groupId) => java.start({ ...WORKER_SETTINGS, ...plugins, ...own }, groupId) },
  ]
}

function rateFigures(choice: Converters, at: number, rounds: readonly Round[]): readonly Figure[] {
  const figures = comparedFigures(
    choice,
    rounds.map(({ rates }) => rates[at]!),
  )
  const beside = (name: string, program: string, rate: (round: Round) => number, aim: number): readonly Figure[] =>
    figures
      .filter((figure) => figure.name.endsWith(`: ${name}`))
      .map((figure) => ({ ...figure, against: { name: program, values: rounds.map(rate) }, aim }))
  return [
    ...figures,
    ...beside(SNAPSHOT, 'COPY TO', ({ copy }) => copy, 0.04),
    ...beside(CHANGES, 'pg_recvlogical', ({ receive }) => receive, 0.4),
  ]
}

const SNAPSHOT = 'snapshot, first to last record'
const CHANGES = 'changes'

/** Figures of one setting of converters beside Debezium. */
export function comparedFigures({ title }: Converters, compared: readonly Compared[]): readonly Figure[] {
  const ours = (what: keyof Rates) => compared.map((one) => one.ours[what])
  const kilobytes = (median(ours('changeBytes')) / 1_000).toFixed(1)
  const of = (what: keyof Rates, unit: Figure['unit'], name: string, aim: number): Figure => ({
    name: `${title} (${kilobytes} kB): ${name}`,
    unit,
    ours: ours(what),
    against: { name: 'Debezium', values: compared.map(({ debezium }) => debezium[what]) },
    aim,
  })
  return [
    of('snapshot', 'rec/s', SNAPSHOT, 1.5),
    of('snapshotWithStart', 'rec/s', 'snapshot, with the start of the connector', 1.5),
    of('snapshotCpuMsPer1000', 'ms', 'snapshot, CPU time of 1,000 rows', 1),
    of('stream', 'rec/s', CHANGES, 1),
    of('streamCpuMsPer1000', 'ms', 'changes, CPU time of 1,000', 1),
    of('changeBytes', 'B', 'size of a change', 1.1),
    of('occupiedMb', 'MB', 'memory after', 0.6),
    of('occupiedMaxMb', 'MB', 'memory, maximum', 0.6),
  ]
}

function latencyFigures(rounds: readonly Round[]): readonly Figure[] {
  const of = (what: keyof Latency, name: string): Figure => ({
    name: `commit to record at 1,000 changes/s, ${name}`,
    unit: 'ms',
    ours: rounds.map((round) => round.latency[0]![what]),
    against: { name: 'Debezium', values: rounds.map((round) => round.latency[1]![what]) },
    aim: 1,
  })
  return [of('p50Ms', 'p50'), of('p99Ms', 'p99')]
}
