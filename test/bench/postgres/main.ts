import type { ConnectorProperties } from '../../../src/clients/worker-client.ts'
import { occupiedMbOf } from '../../support/process-tree.ts'
import { startRegistryProcess } from '../../support/registry-process.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import type { Figure } from '../figures.ts'
import { debeziumPluginPath } from '../java-plugins/cases.ts'
import { progress, type Settings } from '../settings.ts'
import { type BenchWorker, sidesOn } from '../worker/sides.ts'
import { countRecords, measureRate, type Rate } from './connector-rates.ts'
import { CopiedTable } from './copied-table.ts'

const WORKER_SETTINGS = { 'offset.flush.interval.ms': '1000' }
const JSON_CONVERTER = {
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter.schemas.enable': 'true',
}
/** Debezium's sink is four times slower than Weir's, so it writes only a tenth of the records, to limit the time of a round. */
const RECORDS_PER_DEBEZIUM_RECORD = 10
const MEMORY_MB = 300

type Connector = 'bulk' | 'incrementing' | 'incrementingOnce' | 'insert' | 'upsert' | 'upsertOnce' | 'upsertJson'
type Round = Readonly<Record<Connector | 'upsertDebezium', Rate>> & {
  /** Rates of COPY to and from a file of the server. */
  readonly copyTo: number
  readonly copyFrom: number
  readonly memoryMb: number
}

/**
 * Copies a table to a topic and the topic to a table, compared with COPY of these rows to and from a server file, and
 * with Debezium's JDBC sink in a worker of Kafka Connect.
 */
export async function benchPostgres(settings: Settings): Promise<readonly Figure[]> {
  const { records } = settings
  await using table = await CopiedTable.start(records)
  await using broker = await openDisposableBroker({
    kind: 'kafka',
    config: { 'bootstrap.servers': settings.bootstrap },
  })
  const registry = await startRegistryProcess(['--bootstrap', settings.bootstrap], {
    'brokerstore.topic': `_schemas-postgres-${process.pid}`,
  })
  const avro = {
    'value.converter': 'io.confluent.connect.avro.AvroConverter',
    'value.converter.schema.registry.url': registry.url,
  }
  const [ours, java] = sidesOn(settings)
  const plugins = { 'plugin.path': await debeziumPluginPath('jdbc'), 'plugin.discovery': 'service_load' }
  let runs = 0

  async function read(worker: BenchWorker, config: ConnectorProperties) {
    const prefix = `postgres-${process.pid}-${runs++}-`
    const topic = `${prefix}made`
    const rate = await measureRate({
      worker,
      serverPid: table.pid,
      name: `read-${prefix}`,
      config: { ...sourceConfig(table.url), 'topic.prefix': prefix, ...config },
      records,
      countCopied: () => countRecords(broker, topic),
    })
    return { rate, topic }
  }

  async function write(worker: BenchWorker, topic: string, config: ConnectorProperties, count = records) {
    await table.truncate()
    return measureRate({
      worker,
      serverPid: table.pid,
      name: `write-${topic}-${runs++}`,
      config: { ...config, topics: topic },
      records: count,
      countCopied: () => table.lastId(),
    })
  }

  async function withWorker<T>(
    side: typeof ours,
    own: Readonly<Record<string, string>>,
    measure: (worker: BenchWorker) => Promise<T>,
  ): Promise<T> {
    const worker = await side.start({ ...WORKER_SETTINGS, ...own })
    try {
      return await measure(worker)
    } finally {
      await worker.stop()
    }
  }

  async function measureRound(): Promise<Round> {
    const { toMs, fromMs } = await table.copy()
    const upsert = { ...sinkConfig(table.url), 'insert.mode': 'upsert' }
    const weir = await withWorker(ours, {}, async (worker) => {
      const bulk = await read(worker, { ...avro, ...BULK })
      const incrementing = await read(worker, { ...avro, ...INCREMENTING })
      const { topic } = incrementing
      const json = await read(worker, { ...JSON_CONVERTER, ...INCREMENTING })
      return {
        jsonTopic: json.topic,
        bulk: bulk.rate,
        incrementing: incrementing.rate,
        insert: await write(worker, topic, { ...avro, ...sinkConfig(table.url) }),
        upsert: await write(worker, topic, { ...avro, ...upsert }),
        upsertOnce: await write(worker, topic, { ...avro, ...upsert, 'offsets.table': 'written_offsets' }),
        upsertJson: await write(worker, json.topic, { ...JSON_CONVERTER, ...upsert }),
        memoryMb: occupiedMbOf(worker.pid!),
      }
    })
    const once = { 'exactly.once.source.support': 'enabled' }
    const incrementingOnce = await withWorker(ours, once, async (worker) => {
      const transactions = { 'transaction.boundary': 'interval' }
      // The connector that it is compared with is the second one of its worker, too: V8 has compiled the code.
      await read(worker, { ...avro, ...BULK, ...transactions })
      return read(worker, { ...avro, ...INCREMENTING, ...transactions })
    })
    const upsertDebezium = await withWorker(java, plugins, (worker) => {
      const config = { ...JSON_CONVERTER, ...debeziumSinkConfig(table.url) }
      return write(worker, weir.jsonTopic, config, Math.ceil(records / RECORDS_PER_DEBEZIUM_RECORD))
    })
    const rate = (ms: number) => (records / ms) * 1_000
    return {
      ...weir,
      incrementingOnce: incrementingOnce.rate,
      upsertDebezium,
      copyTo: rate(toMs),
      copyFrom: rate(fromMs),
    }
  }

  try {
    const rounds: Round[] = []
    for (let round = 1; round <= settings.rounds; round++) {
      progress(`postgres: round ${round} of ${settings.rounds}`)
      const measured = await measureRound()
      progress(cpuTimes(measured))
      rounds.push(measured)
    }
    return figuresOf(rounds)
  } finally {
    await registry.stop()
  }
}

const BULK = { mode: 'bulk', 'poll.interval.ms': '3600000' }
const INCREMENTING = { mode: 'incrementing', 'incrementing.column.name': 'id', 'poll.interval.ms': '100' }

function sourceConfig(url: string): ConnectorProperties {
  return { 'connector.class': 'PostgresSource', 'connection.url': url, 'table.whitelist': 'made' }
}

function sinkConfig(url: string): ConnectorProperties {
  return {
    'connector.class': 'PostgresSink',
    'connection.url': url,
    'table.name.format': 'copied',
    'insert.mode': 'insert',
    'pk.mode': 'record_value',
    'pk.fields': 'id',
  }
}

/** With batches as large as those of Weir's sink. */
function debeziumSinkConfig(url: string): ConnectorProperties {
  const { host, username, password, pathname } = new URL(url)
  return {
    'connector.class': 'io.debezium.connector.jdbc.JdbcSinkConnector',
    'connection.url': `jdbc:postgresql://${host}${pathname}`,
    'connection.username': username,
    'connection.password': decodeURIComponent(password),
    'collection.name.format': 'copied',
    'insert.mode': 'upsert',
    'primary.key.mode': 'record_value',
    'primary.key.fields': 'id',
    'batch.size': '3000',
    'consumer.override.max.poll.records': '3000',
  }
}

/** CPU time of the worker and of PostgreSQL, which depends less on other programs of the machine than the rates. */
function cpuTimes(round: Round): string {
  const connectors = Object.entries(round).filter((entry): entry is [string, Rate] => typeof entry[1] === 'object')
  const lines = connectors.map(
    ([name, { perSecond, cpuMs, serverCpuMs }]) =>
      `  ${name}: ${Math.round(perSecond)}/s, ${cpuMs.toFixed(1)} ms of the worker and ${serverCpuMs.toFixed(1)} ms of PostgreSQL`,
  )
  return ['CPU time of 1,000 records:', ...lines].join('\n')
}

function figuresOf(rounds: readonly Round[]): readonly Figure[] {
  const ofAll = (rate: (round: Round) => number) => rounds.map(rate)
  const beside = (name: string, connector: Connector, other: string, rate: (round: Round) => number, aim: number) => ({
    name,
    unit: 'rec/s' as const,
    ours: ofAll((round) => round[connector].perSecond),
    against: { name: other, values: ofAll(rate) },
    aim,
  })
  return [
    beside('table → topic, bulk, Avro', 'bulk', 'COPY TO', ({ copyTo }) => copyTo, 0.12),
    beside('table → topic, incrementing, Avro', 'incrementing', 'COPY TO', ({ copyTo }) => copyTo, 0.12),
    beside('the same, exactly once', 'incrementingOnce', 'at least once', (round) => round.incrementing.perSecond, 0.8),
    beside('topic → table, insert, Avro', 'insert', 'COPY FROM', ({ copyFrom }) => copyFrom, 0.3),
    beside('topic → table, upsert, Avro', 'upsert', 'COPY FROM', ({ copyFrom }) => copyFrom, 0.2),
    beside('the same, with offsets.table', 'upsertOnce', 'without', (round) => round.upsert.perSecond, 0.8),
    beside('topic → table, upsert, JSON', 'upsertJson', 'Debezium', (round) => round.upsertDebezium.perSecond, 1),
    {
      name: 'CPU time of 1,000 records, upsert, JSON',
      unit: 'ms',
      ours: ofAll((round) => round.upsertJson.cpuMs),
      against: { name: 'Debezium', values: ofAll((round) => round.upsertDebezium.cpuMs) },
      aim: 1,
    },
    {
      name: 'memory of the worker after all',
      unit: 'MB',
      ours: ofAll(({ memoryMb }) => memoryMb),
      against: { name: 'bound', values: rounds.map(() => MEMORY_MB) },
      aim: 1,
    },
  ]
}
