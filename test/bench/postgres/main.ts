import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { startPostgres } from '../../env/postgres.ts'
import { until } from '../../support/until.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'
import type { Figure } from '../figures.ts'
import { residentMb } from '../process.ts'
import { progress, type Settings } from '../settings.ts'

const WAIT = { everyMs: 20, timeoutMs: 300_000 }
const WORKER_SETTINGS = { 'offset.flush.interval.ms': '250' }
/** A target of 1 is not realistic: COPY has neither Kafka in between nor schemas. */
const READ_AIM = 0.2
const WRITE_AIM = 0.2
const MEMORY_MB = 256

type Round = {
  readonly copyOut: number
  readonly copyIn: number
  readonly source: number
  readonly sink: number
  readonly memoryMb: number
}

/** Copies a table to a topic and the topic to a table, compared with COPY of these rows to and from a server file. */
export async function benchPostgres(settings: Settings): Promise<readonly Figure[]> {
  const server = await startPostgres()
  const client = new pg.Client({ connectionString: server.url })
  try {
    await client.connect()
    await client.query(`CREATE TABLE made (id bigint PRIMARY KEY, word text, amount numeric(12, 2), at timestamptz NOT NULL);
      INSERT INTO made SELECT n, 'word ' || n || repeat('.', 50), n * 0.01, now() + n * interval '1 us' - interval '1 hour'
      FROM generate_series(1, ${settings.records}) n; CREATE INDEX ON made (at, id)`)
    await client.query('VACUUM ANALYZE made')
    const rounds: Round[] = []
    for (let round = 1; round <= settings.rounds; round++) {
      progress(`postgres: round ${round} of ${settings.rounds}`)
      rounds.push(await measure(settings, server.url, client))
    }
    return figuresOf(rounds)
  } finally {
    await client.end()
    await server.stop()
  }
}

function figuresOf(rounds: readonly Round[]): readonly Figure[] {
  const of = (what: keyof Round) => rounds.map((round) => round[what])
  const beside = (name: string, values: readonly number[]) => ({ name, values })
  return [
    {
      name: 'table → topic, JSON with schema',
      unit: 'rec/s',
      ours: of('source'),
      against: beside('COPY TO', of('copyOut')),
      aim: READ_AIM,
    },
    {
      name: 'topic → table, upsert',
      unit: 'rec/s',
      ours: of('sink'),
      against: beside('COPY FROM', of('copyIn')),
      aim: WRITE_AIM,
    },
    {
      name: 'resident memory after both',
      unit: 'MB',
      ours: of('memoryMb'),
      against: beside(
        'bound',
        rounds.map(() => MEMORY_MB),
      ),
      aim: 1,
    },
  ]
}

async function measure({ bootstrap, records, nodeArgs }: Settings, url: string, client: pg.Client): Promise<Round> {
  const rate = (ms: number) => (records / ms) * 1000
  const file = join(tmpdir(), `weir-bench-${process.pid}`)
  await client.query('DROP TABLE IF EXISTS copied; CREATE TABLE copied (LIKE made INCLUDING INDEXES)')
  const copyOutMs = await timed(() => client.query(`COPY made TO '${file}'`))
  const copyInMs = await timed(() => client.query(`COPY copied FROM '${file}'`))
  rmSync(file, { force: true })
  await client.query('TRUNCATE copied')

  const groupId = `postgres-${performance.now()}`
  const worker = await startWorkerProcess({
    log: ['--bootstrap', bootstrap],
    groupId,
    settings: WORKER_SETTINGS,
    nodeArgs,
  })
  try {
    const { sourceMs, sinkMs } = await through(worker.url, url, groupId, records, client)
    const memoryMb = await residentMb(worker.pid)
    return { copyOut: rate(copyOutMs), copyIn: rate(copyInMs), source: rate(sourceMs), sink: rate(sinkMs), memoryMb }
  } finally {
    await worker.stop()
  }
}

async function through(workerUrl: string, url: string, name: string, records: number, client: pg.Client) {
  const worker = createWorkerClient({ url: workerUrl })
  const both = {
    'connection.url': url,
    'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
    'value.converter.schemas.enable': 'true',
  }
  const [reading, writing] = [`in-${name}`, `out-${name}`]
  const sourceMs = await timed(async () => {
    await worker.create(reading, {
      ...both,
      'connector.class': 'PostgresSource',
      mode: 'timestamp+incrementing',
      'timestamp.column.name': 'at',
      'incrementing.column.name': 'id',
      'table.whitelist': 'made',
      'topic.prefix': `${name}-`,
      'poll.interval.ms': '100',
    })
    const last = async () => (await worker.offsets(reading))[0]?.offset?.['incrementing'] ?? 0
    await until('all rows to be in the topic', WAIT, async () => Number(await last()) >= records)
  })
  await worker.stop(reading)
  const sinkMs = await timed(async () => {
    await worker.create(writing, {
      ...both,
      'connector.class': 'PostgresSink',
      topics: `${name}-made`,
      'table.name.format': 'copied',
      'insert.mode': 'upsert',
      'pk.mode': 'record_value',
      'pk.fields': 'id',
    })
    await until('all rows to be in the table', WAIT, async () => {
      const { rows } = await client.query<{ last: string | null }>('SELECT max(id) AS last FROM copied')
      return Number(rows[0]?.last ?? 0) >= records
    })
  })
  return { sourceMs, sinkMs }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
