import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import type { WorkerClient } from '../../../src/clients/worker-client.ts'
import { startJavaConnect } from '../../env/java-connect.ts'
import { describeOn, real } from '../../env/real.ts'
import type { Database } from '../../support/database.ts'
import { parseJson, postgresSource, readTopic, startSourceDatabase } from '../../support/debezium.ts'
import { createJavaClient } from '../../support/java-requests.ts'
import { LEDGER_SETUP, LedgerWriter, lastRows, rowAfter } from '../../support/ledger-writer.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'

const kafka = await real('kafka')
// Used only to find out whether this machine can run a Java worker.
const java = await real('javaConnect')
const debezium = await real('debezium')
const postgres = await real('postgres')

const WAIT = { everyMs: 100, timeoutMs: 300_000 }
const NAME = 'bank'
/** How often offsets are moved after a stop. */
const MOVES = 2
/** Rows of a transaction that takes a connector much longer than a request to stop it. */
const MANY_ROWS = 30_000
const SETTINGS = {
  'offset.flush.interval.ms': '500',
  'heartbeat.interval.ms': '1000',
  'session.timeout.ms': '5000',
}

/** A worker of either kind. */
type Worker = { readonly client: WorkerClient; kill(): Promise<void> }

describeOn([kafka, java, debezium, postgres], 'A connector for PostgreSQL changes', () => {
  it('moves from Debezium to Weir and back: by its topics when workers are killed, and by its offsets when it is stopped within a transaction', {
    timeout: 1_200_000,
  }, async () => {
    const database = await startSourceDatabase()
    await database.run(LEDGER_SETUP)
    const [prefix, another] = [`takeover-${randomUUID()}`, `another-${randomUUID()}`]
    const run = new Takeover(database, prefix)
    const config = sourceConfig(database, prefix)

    const theirs = await startDebezium(prefix)
    await theirs.client.create(NAME, config)
    await run.untilNewChange(theirs)
    const snapshot = await run.snapshots()
    await killInGroup(prefix, theirs)
    const ours = await startWeir(prefix)
    await run.untilNewChange(ours)
    await killInGroup(prefix, ours)
    const theirsAgain = await startDebezium(prefix)
    await run.untilNewChange(theirsAgain)

    const repeated = await run.repeatedChanges()
    const oursAgain = await startWeir(another)
    await oursAgain.client.create(NAME, config, 'STOPPED')
    await run.stopWithinTransaction(theirsAgain)
    await moveOffsets(theirsAgain, oursAgain)
    await run.untilNewChange(oursAgain)
    await run.stopWithinTransaction(oursAgain)
    await moveOffsets(oursAgain, theirsAgain)
    await run.untilNewChange(theirsAgain)
    await run.stopWriter()
    expect(await run.ledger()).toEqual(await database.run('SELECT id::int, transaction FROM ledger ORDER BY id'))
    expect(await run.accounts()).toEqual(await database.run('SELECT id, balance FROM accounts ORDER BY id'))
    expect(await run.snapshots(), 'rows of snapshots').toBe(snapshot)
    // A worker that has no time to commit the offset at a stop leaves it to the next one to repeat changes of the transaction.
    const repeatedMax = repeated + MOVES * MANY_ROWS
    expect(await run.repeatedChanges(), 'changes that are repeated after a stop').toBeLessThanOrEqual(repeatedMax)
  })
})

/** Writes to the database, and reads what the connector makes of it. */
class Takeover {
  readonly #prefix: string
  readonly #writer: LedgerWriter

  constructor(database: Database, prefix: string) {
    this.#prefix = prefix
    this.#writer = new LedgerWriter(database)
  }

  /**
   * Waits until a transaction that is written from now on is in the topic, and not by a snapshot, and until an offset behind the
   * snapshot is committed: otherwise the next worker repeats the snapshot.
   */
  async untilNewChange({ client }: Worker): Promise<void> {
    const known = this.#writer.count
    await until('a new change', WAIT, async () => {
      const status = await client.status(NAME).catch(() => undefined)
      const failed = [status?.connector, ...(status?.tasks ?? [])].find((one) => one?.state === 'FAILED')
      if (failed !== undefined) throw new Error(failed.trace)
      // A worker that has just started may not have read the offsets topic yet.
      const offsets = await client.offsets(NAME).catch(() => [])
      const isStreaming = offsets.length > 0 && offsets.every(({ offset }) => offset?.['snapshot'] === undefined)
      if (!isStreaming) return false
      const change = parseJson((await this.#read('ledger')).at(-1)?.value ?? null)
      return change?.['op'] === 'c' && Number(rowAfter(change)?.['transaction']) > known
    })
  }

  /** Stops the connector after it has delivered some changes of a large transaction, and not all. */
  async stopWithinTransaction({ client }: Worker): Promise<void> {
    await until('a stop within a transaction', WAIT, async () => {
      const known = await this.#end()
      const transaction = this.#writer.enlargeNext(MANY_ROWS)
      await until('changes of the transaction', WAIT, async () => (await this.#end()) > known + MANY_ROWS / 10)
      await client.stop(NAME)
      await until('the task to stop', WAIT, async () => (await client.status(NAME)).tasks.length === 0)
      const delivered = (await this.#rows()).filter((row) => row['transaction'] === transaction).length
      if (delivered < MANY_ROWS) return true
      await client.resume(NAME)
      return false
    })
  }

  async stopWriter(): Promise<void> {
    await this.#writer.stop()
    await until('the last change', WAIT, async () => (await this.#rows()).at(-1)?.['transaction'] === LedgerWriter.END)
  }

  /** Each row once, in the order of their first events. */
  async ledger(): Promise<readonly object[]> {
    return [...new Map((await this.#rows()).map((row) => [row['id'], row])).values()]
  }

  async repeatedChanges(): Promise<number> {
    const rows = await this.#rows()
    return rows.length - new Set(rows.map(({ id }) => id)).size
  }

  async accounts(): Promise<readonly object[]> {
    return lastRows(await this.#read('accounts')).toSorted((a, b) => Number(a['id']) - Number(b['id']))
  }

  async snapshots(): Promise<number> {
    const records = [...(await this.#read('accounts')), ...(await this.#read('ledger'))]
    return records.filter(({ value }) => parseJson(value)?.['op'] === 'r').length
  }

  async #rows() {
    return (await this.#read('ledger')).map(({ value }) => rowAfter(parseJson(value))).filter((row) => row !== null)
  }

  /** The end of the topic of the ledger. */
  async #end(): Promise<number> {
    const config = { 'bootstrap.servers': kafka.address.bootstrap }
    await using broker = await openDisposableBroker({ kind: 'kafka', config })
    const [end] = await broker.topics.offsets(`${this.#prefix}.public.ledger`, 'latest')
    return end!.offset
  }

  #read(table: string) {
    return readTopic(kafka.address.bootstrap, `${this.#prefix}.public.${table}`)
  }
}

function sourceConfig(database: Database, prefix: string): Readonly<Record<string, string>> {
  return {
    ...postgresSource(database, prefix, ['public.ledger', 'public.accounts']),
    'poll.interval.ms': '50',
    'value.converter.schemas.enable': 'false',
    'key.converter.schemas.enable': 'false',
  }
}

async function startDebezium(groupId: string): Promise<Worker> {
  const { bootstrap } = kafka.address
  const plugins = { 'debezium-connector-postgres': debezium.address.postgres }
  const worker = await startJavaConnect({ bootstrap, groupId, plugins, properties: SETTINGS })
  onTestFinished(() => worker.stop())
  return { client: createJavaClient(worker.url), kill: () => worker.kill() }
}

async function startWeir(groupId: string): Promise<Worker> {
  const worker = await startWorkerProcess({
    log: ['--bootstrap', kafka.address.bootstrap],
    groupId,
    // A machine that is busy with other tests gives no processor for long.
    settings: { ...SETTINGS, 'worker.thread.blocked.max.ms': '60000' },
  })
  onTestFinished(() => worker.kill())
  return { client: createJavaClient(worker.url), kill: () => worker.kill() }
}

/** Kills a worker, and waits until the group has removed it: a worker of the other kind cannot join before. */
async function killInGroup(groupId: string, worker: Worker): Promise<void> {
  await worker.kill()
  const config = { 'bootstrap.servers': kafka.address.bootstrap }
  await using broker = await openDisposableBroker({ kind: 'kafka', config })
  await until('an empty group', WAIT, async () => (await broker.groups.describe(groupId)).members.length === 0)
}

/** Continues the connector of one worker, which is stopped, on the other one with its offsets. */
async function moveOffsets({ client: from }: Worker, { client: to }: Worker): Promise<void> {
  await to.alterOffsets(NAME, await from.offsets(NAME))
  await to.resume(NAME)
}
