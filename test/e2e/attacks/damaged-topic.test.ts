import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ATTRIBUTES_AT } from '../../../src/broker/record-batch/batch-header.ts'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { type Kafka, startKafka } from '../../env/kafka.ts'
import { freePort } from '../../env/ports.ts'
import { describeOn, real } from '../../env/real.ts'
import { responds, runWeir, setArgs } from '../../support/cli.ts'
import { damageSegment, segmentOf } from '../../support/damaged-segment.ts'
import { type RegistryProcess, startRegistryProcess } from '../../support/registry-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { runWorkerProcess, startWorkerProcess, type WorkerOptions } from '../../support/worker-process.ts'

// A damaged log must never look like an empty one: all data or a refusal that names the place, on Kafka's own files.

const kafka = await real('kafka')
const SUBJECTS = 20
const WAIT = { everyMs: 50, timeoutMs: 120_000 }

describeOn([kafka], 'a damaged log segment in Kafka', () => {
  let own: Kafka
  let log: readonly string[]
  beforeAll(async () => {
    own = await startKafka()
    log = ['--bootstrap', own.bootstrap]
  })
  afterAll(() => own.stop())

  it('prevents the start of a registry and a worker, which report the place; nothing is lost after it was restored', async () => {
    const settings = namedRegistry('one')
    await (await filledRegistry(log, settings)).stop()
    const worker: WorkerOptions = { log, groupId: 'w' }
    await runConnector(worker)
    await own.shutDown()

    // After a clean shutdown Kafka does not look at its segments.
    const schemas = damageSegment(segmentOf(own, 'one-schemas-0'), (batches) => batches[5]!)
    await own.restart()
    const place = `the record batch at offset ${schemas.offset} of one-schemas-0 cannot be read`
    await expectRefusal(runRegistry(log, settings), place)
    schemas.restore()
    const restored = await startRegistryProcess(log, settings)
    const client = createRegistryClient({ url: restored.url })
    expect(await client.subjects()).toHaveLength(SUBJECTS)
    expect(await client.register('new', { schema: '"string"' })).toMatchObject({ id: SUBJECTS + 1 })
    await restored.stop()

    for (const partition of ['w-configs-0', ofNonEmpty(own, 'w-offsets')]) {
      const { offset, restore } = damageSegment(segmentOf(own, partition), (batches) => batches[0]!)
      await expectRefusal(
        runWorkerProcess(worker),
        `the record batch at offset ${offset} of ${partition} cannot be read`,
      )
      restore()
    }
    const again = await startWorkerProcess(worker)
    expect(await (await fetch(`${again.url}/connectors`)).json()).toEqual(['c'])
    await again.stop()
  })

  it('ends a running registry, which is not ready, assigns no id twice and reports the place', async () => {
    const settings = namedRegistry('two')
    const registry = await filledRegistry(log, settings)
    // Nobody reads while the registry sleeps: the next record is damaged before it comes to it.
    process.kill(registry.pid!, 'SIGSTOP')
    await appendTo(own.bootstrap, 'two-schemas')
    const { offset, restore } = damageSegment(segmentOf(own, 'two-schemas-0'), (batches) => batches.at(-1)!)
    process.kill(registry.pid!, 'SIGCONT')
    await until('the registry to end', WAIT, () => hasEnded(registry.pid!))
    expect(await responds(`${registry.url}/readyz`)).toBe(false)
    expect(await registry.interrupt()).toBe(1)
    const place = `the record batch at offset ${offset} of two-schemas-0 cannot be read`
    expect(readFileSync(registry.logFile, 'utf8')).toContain(`weir: ${place}`)
    await expectRefusal(runRegistry(log, settings), place)
    restore()
  })

  it('or a deleted topic does not empty a running registry, nor the next one that starts', async () => {
    const settings = namedRegistry('three')
    const registry = await filledRegistry(log, settings)
    await using broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': own.bootstrap } })
    await broker.topics.delete('three-schemas')
    await until('the registry to end', WAIT, () => hasEnded(registry.pid!))
    expect(await registry.interrupt()).toBe(1)
    expect(readFileSync(registry.logFile, 'utf8')).toContain("weir: topic 'three-schemas' was deleted. Restore topic")
    await expectRefusal(runRegistry(log, settings), "topic 'three-schemas' does not exist, but it had records")
  })

  it("that Kafka's recovery truncates after a crash is detected: the registry does not start with fewer records", async () => {
    const settings = namedRegistry('four')
    await (await filledRegistry(log, settings)).stop()
    await own.kill()
    damageSegment(segmentOf(own, 'four-schemas-0'), (batches) => batches[5]!)
    await own.restart()
    const refused = await expectRefusal(runRegistry(log, settings), 'four-schemas-0 was read up to offset ')
    expect(refused).toMatch(/but now ends at 5: it was truncated/)
    // Who has nothing to restore says so.
    const kept = await startRegistryProcess(log, { ...settings, 'brokerstore.topic.skip.validation': 'true' })
    expect((await createRegistryClient({ url: kept.url }).subjects()).length).toBeLessThan(SUBJECTS)
    await kept.stop()
  })
})

describe('a damaged data directory', () => {
  it('prevents the start of a registry, whichever batch is damaged; nothing is lost after it was restored', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const log = ['--data', directory]
    const registry = await filledRegistry(log)
    await registry.stop()
    const file = join(directory, 'broker.db')
    for (const nth of [0, 7, -1]) {
      const restore = damageRow(file, nth)
      const { code, stderr } = await runRegistry(log)
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/_schemas/) })
      restore()
    }
    const restored = await startRegistryProcess(log, {})
    expect(await createRegistryClient({ url: restored.url }).subjects()).toHaveLength(SUBJECTS)
    await restored.stop()
  })

  it('prevents the start of all parts of weir up', async () => {
    const directory = temporaryDirectory()
    const log = ['--data', join(directory, 'data')]
    const registry = await filledRegistry(log)
    await registry.stop()
    damageRow(join(directory, 'data', 'broker.db'), 7)
    const ports = ['--registry-port', '0', '--worker-port', '0', '--console-port', '0']
    const { code, stderr } = await runWeir(directory, 'up', directory, ...log, ...ports)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/^weir: .*_schemas/m) })
  })
})

/** A registry with a topic and a group of its own, on the broker that the tests share. */
function namedRegistry(name: string): Readonly<Record<string, string>> {
  return { 'brokerstore.topic': `${name}-schemas`, 'schema.registry.group.id': name }
}

async function filledRegistry(
  log: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<RegistryProcess> {
  const registry = await startRegistryProcess(log, settings)
  onTestFinished(() => registry.kill())
  const client = createRegistryClient({ url: registry.url })
  for (let at = 0; at < SUBJECTS; at++) {
    const schema = JSON.stringify({ type: 'record', name: `R${at}`, fields: [] })
    expect(await client.register(`s${at}`, { schema })).toMatchObject({ id: at + 1 })
  }
  // It saves how far it has read soon after each write.
  await new Promise((resolve) => setTimeout(resolve, 500))
  return registry
}

/** A worker that has a connector with offsets, to its end. */
async function runConnector(options: WorkerOptions): Promise<void> {
  const file = join(temporaryDirectory(), 'lines')
  writeFileSync(file, 'one\ntwo\n')
  const settings = { 'offset.flush.interval.ms': '200' }
  const worker = await startWorkerProcess({ ...options, settings })
  onTestFinished(() => worker.kill())
  const response = await fetch(`${worker.url}/connectors`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'c', config: { 'connector.class': 'FileStreamSource', topic: 'lines', file } }),
  })
  expect(response.status).toBe(201)
  await until('offsets of the connector', WAIT, async () => {
    const answer = (await (await fetch(`${worker.url}/connectors/c/offsets`)).json()) as { offsets?: unknown[] }
    return (answer.offsets?.length ?? 0) > 0
  })
  await worker.stop()
}

async function runRegistry(log: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  const own = { listeners: `http://127.0.0.1:${await freePort()}`, 'brokerstore.topic.replication.factor': '1' }
  return runWeir(temporaryDirectory(), 'registry', ...log, ...setArgs({ ...own, ...settings }))
}

async function expectRefusal(running: ReturnType<typeof runWeir>, place: string): Promise<string> {
  const { code, stderr } = await running
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(place) })
  expect(stderr).toContain('Restore topic ')
  return stderr
}

function ofNonEmpty({ dataDirectory }: Kafka, topic: string): string {
  const found = readdirSync(dataDirectory).find(
    (name) =>
      name.startsWith(`${topic}-`) && readFileSync(join(dataDirectory, name, '00000000000000000000.log')).length > 0,
  )
  if (found === undefined) throw new Error(`no partition of ${topic} has a record`)
  return found
}

/** Flips a bit of a batch of `_schemas` in the file of the embedded broker. */
function damageRow(file: string, nth: number): () => void {
  const rows = (database: DatabaseSync) =>
    database
      .prepare(
        `select batches.id, bytes from batches, partitions, topics where batches.id >> 43 = partitions.id
         and partitions.topic_id = topics.id and topics.name = '_schemas' order by batches.id`,
      )
      .all()
  const write = (change: (database: DatabaseSync) => void) => {
    const database = new DatabaseSync(file)
    change(database)
    database.close()
  }
  let restore = (): void => undefined
  write((database) => {
    const row = rows(database).at(nth)!
    const [id, bytes] = [Number(row['id']), Buffer.from(row['bytes'] as Uint8Array)]
    const update = (one: DatabaseSync, to: Uint8Array) =>
      one.prepare('update batches set bytes = ? where id = ?').run(to, id)
    restore = () => write((one) => void update(one, bytes))
    const damaged = Buffer.from(bytes)
    damaged[ATTRIBUTES_AT + 30]! ^= 4
    update(database, damaged)
  })
  return restore
}

/** A record that a registry takes for a marker. */
async function appendTo(bootstrap: string, topic: string): Promise<void> {
  await using broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
  const producer = await broker.producer()
  await producer.send([{ topic, partition: 0, key: Buffer.from('{"keytype":"NOOP","magic":0}'), value: null }])
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}
