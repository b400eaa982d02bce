import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type ConnectorProperties, createWorkerClient } from '../../../src/clients/worker-client.ts'
import { describeOn, real } from '../../env/real.ts'
import { createDatabase } from '../../support/database.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'

const EXAMPLE = readFileSync(join(import.meta.dirname, '../../../examples/postgres/orders.yaml'), 'utf8')
const WAIT = { everyMs: 50, timeoutMs: 120_000 }

const postgres = await real('postgres')

describeOn([postgres], 'the example of a table that is copied to another table', () => {
  it('copies rows and their changes', async () => {
    const database = await createDatabase(postgres.address.url)
    const statement = /CREATE TABLE[^;]*;/s.exec(EXAMPLE)![0].replaceAll('\n#', '\n')
    await database.run(`${statement} INSERT INTO orders (item, price) VALUES ('tea', 2.5), ('cake', 4)`)
    const client = await startWorker()
    for (const { name, config } of connectorsOf(EXAMPLE)) await client.create(name, { ...config, ...database.config })

    const copied = async (rows: readonly object[]) => {
      let found: unknown
      await until(`the copy to have ${rows.length} rows`, WAIT, async () => {
        found = await database.run('SELECT id, item, price FROM orders_copy ORDER BY id').catch(String)
        return JSON.stringify(found) === JSON.stringify(rows)
      }).catch(async (error: Error) => {
        const states = await Promise.all(['orders-table', 'orders-copy'].map((name) => client.status(name)))
        throw new Error(`${error.message}: ${JSON.stringify({ found, states })}`)
      })
    }
    const cake = { id: 2, item: 'cake', price: '4.00' }
    await copied([{ id: 1, item: 'tea', price: '2.50' }, cake])
    await database.run("UPDATE orders SET price = 3, changed = clock_timestamp() WHERE item = 'tea'")
    await copied([{ id: 1, item: 'tea', price: '3.00' }, cake])
    const [offsets] = await database.run('SELECT sum(next_offset)::int AS records FROM weir_offsets')
    expect(offsets).toEqual({ records: 3 })
  })
})

async function startWorker() {
  const settings = {
    'key.converter': 'StringConverter',
    'value.converter': 'JsonConverter',
    // A machine that is busy with other tests gives no processor for long.
    'worker.thread.blocked.max.ms': '60000',
  }
  const log = ['--data', join(temporaryDirectory(), 'data')]
  const worker = await startWorkerProcess({ log, groupId: 'example', settings })
  onTestFinished(() => worker.kill())
  return createWorkerClient({ url: worker.url })
}

type Manifest = {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly class: string; readonly config: ConnectorProperties }
}

function connectorsOf(text: string): readonly { readonly name: string; readonly config: ConnectorProperties }[] {
  return parseAllDocuments(text).map((document) => {
    const { metadata, spec } = document.toJS() as Manifest
    return { name: metadata.name, config: { 'connector.class': spec.class, ...spec.config, 'poll.interval.ms': '50' } }
  })
}
