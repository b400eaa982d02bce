import { openDisposableBroker } from '../../support/topic.ts'
import type { Figure } from '../figures.ts'
import { debeziumPluginPath } from '../java-plugins/cases.ts'
import { progress, type Settings } from '../settings.ts'
import { type Side, sidesOn } from '../worker/sides.ts'
import { type Latency, measureLatency } from './latency.ts'
import { measureRates, type Rates } from './rates.ts'
import { SourceDatabase } from './source-database.ts'

/** A change event with its schema has ten times the size of the records of other benchmarks. */
const RECORDS_PER_ROW = 10
const WORKER_SETTINGS = { 'offset.flush.interval.ms': '1000' }

type Round = {
  readonly ours: Rates
  readonly debezium: Rates
  readonly copy: number
  readonly receive: number
  readonly latency: readonly Latency[]
}

/** Compares the PostgreSQL change data capture of Weir with Debezium, and with PostgreSQL's own programs, on the same server and Kafka. */
export async function benchCdc(settings: Settings): Promise<readonly Figure[]> {
  const rows = Math.ceil(settings.records / RECORDS_PER_ROW)
  // Changes come in groups of an insert, an update and a delete of each row.
  const changes = Math.ceil(rows / 3) * 3
  const sides = await sidesWithDebezium(settings)
  await using database = await SourceDatabase.start(rows)
  await using broker = await openDisposableBroker({
    kind: 'kafka',
    config: { 'bootstrap.servers': settings.bootstrap },
  })
  const rounds: Round[] = []
  for (let round = 1; round <= settings.rounds; round++) {
    const copy = (rows / (await database.copyMs())) * 1_000
    const receive = await receiveRate(database, changes, round)
    const rates: Rates[] = []
    for (const side of sides) {
      progress(`cdc: ${side.name}, round ${round} of ${settings.rounds}`)
      rates.push(await measureRates({ side, database, broker, rows, changes }))
      await database.dropSlots()
    }
    progress(`cdc: latency, round ${round} of ${settings.rounds}`)
    const latency = await measureLatency(sides, database, broker)
    await database.dropSlots()
    rounds.push({ ours: rates[0]!, debezium: rates[1]!, copy, receive, latency })
  }
  return figuresOf(rounds)
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

async function sidesWithDebezium(settings: Settings): Promise<readonly [ours: Side, debezium: Side]> {
  const [ours, java] = sidesOn(settings)
  const plugins = { 'plugin.path': await debeziumPluginPath(), 'plugin.discovery': 'service_load' }
  return [
    { name: 'weir', start: (own, groupId) => ours.start({ ...WORKER_SETTINGS, ...own }, groupId) },
    { name: 'debezium', start: (own, groupId) => java.start({ ...WORKER_SETTINGS, ...plugins, ...own }, groupId) },
  ]
}

function figuresOf(rounds: readonly Round[]): readonly Figure[] {
  const of = (what: keyof Rates, unit: Figure['unit'], name: string, aim: number): Figure => ({
    name,
    unit,
    ours: rounds.map(({ ours }) => ours[what]),
    against: { name: 'Debezium', values: rounds.map(({ debezium }) => debezium[what]) },
    aim,
  })
  const beside = (figure: Figure, program: string, rate: (round: Round) => number, aim: number): Figure => ({
    ...figure,
    against: { name: program, values: rounds.map(rate) },
    aim,
  })
  const latency = (what: keyof Latency, name: string): Figure => ({
    name,
    unit: 'ms',
    ours: rounds.map((round) => round.latency[0]![what]),
    against: { name: 'Debezium', values: rounds.map((round) => round.latency[1]![what]) },
    aim: 1,
  })
  const snapshot = of('snapshot', 'rec/s', 'snapshot, first to last record', 1.5)
  const changes = of('stream', 'rec/s', 'changes', 1)
  return [
    snapshot,
    of('snapshotWithStart', 'rec/s', 'snapshot, with the start of the connector', 1.5),
    beside(snapshot, 'COPY TO', ({ copy }) => copy, 0.3),
    of('snapshotCpuMsPer1000', 'ms', 'snapshot, CPU time of 1,000 rows', 1),
    changes,
    beside(changes, 'pg_recvlogical', ({ receive }) => receive, 0.5),
    of('streamCpuMsPer1000', 'ms', 'changes, CPU time of 1,000', 1),
    latency('p50Ms', 'commit to record at 1,000 changes/s, p50'),
    latency('p99Ms', 'commit to record at 1,000 changes/s, p99'),
    of('occupiedMb', 'MB', 'memory after', 1 / 3),
    of('occupiedMaxMb', 'MB', 'memory, maximum', 1 / 3),
  ]
}
