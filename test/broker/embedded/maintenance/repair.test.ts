import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import type { BrokerBackend } from '../../../../src/broker/broker-backend.ts'
import { openDataDirectory } from '../../../../src/broker/embedded/data-directory.ts'
import { PAGE_BYTES } from '../../../../src/broker/embedded/database-format.ts'
import { repair } from '../../../../src/broker/embedded/maintenance/repair.ts'
import { salvage } from '../../../../src/broker/embedded/maintenance/salvage.ts'
import { memoryDirectory } from '../../../support/temporary-directory.ts'
import { batchOf } from '../batch.ts'
import { contentOf, open } from '../recorded-snapshots.ts'

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5)
const quiet = () => {}

/** A closed directory with the topic `t` of three partitions. Each has records of this many bytes. */
async function directoryWith(records: number, bytes = 10): Promise<string> {
  const directory = memoryDirectory()
  const backend = await open(directory)
  await backend.createTopic({ name: 't', partitions: 3, configs: { 'retention.ms': '-1' } })
  for (let at = 0; at < records; at++)
    for (const partition of [0, 1, 2]) await append(backend, partition, `${partition}/${at} ${'x'.repeat(bytes)}`)
  await backend.close()
  return directory
}

async function append(backend: BrokerBackend, partition: number, value: string): Promise<void> {
  const batches = [{ topic: 't', partition, bytes: batchOf([value]) }]
  expect((await backend.produce({ node: 0, timeoutMs: 1, batches }))[0]?.error).toBeUndefined()
}

/** Changes rows without the checksums of their pages, as a damaged disk does. */
function change(directory: string, sql: string): void {
  const sqlite = new DatabaseSync(join(directory, 'broker.db'), { defensive: false })
  sqlite.exec(sql)
  sqlite.close()
}

/** Overwrites pages with zeros. */
function erase(directory: string, pages: readonly number[]): void {
  const path = join(directory, 'broker.db')
  const bytes = readFileSync(path)
  for (const page of pages) bytes.fill(0, (page - 1) * PAGE_BYTES, page * PAGE_BYTES)
  writeFileSync(path, bytes)
}

function pagesOf(directory: string, table: string): readonly number[] {
  const sqlite = new DatabaseSync(join(directory, 'broker.db'), { readOnly: true })
  const rows = sqlite.prepare("select pageno from dbstat where name = ? and pagetype = 'leaf' order by path").all(table)
  sqlite.close()
  return rows.map((row) => Number(row['pageno']))
}

/** The values of each partition without their padding. */
async function valuesIn(directory: string): Promise<Record<string, readonly string[]>> {
  const backend = await open(directory)
  const { records } = (await contentOf(backend)) as {
    records: { topic: string; partition: number; records: { records: { value: string }[] } }[]
  }
  await backend.close()
  return Object.fromEntries(
    records.map(({ topic, partition, records: { records: found } }) => [
      `${topic}-${partition}`,
      found.map(({ value }) => value.trimEnd().replace(/ x+$/, '')),
    ]),
  )
}

const valuesOf = (partition: number, count: number) => Array.from({ length: count }, (_, at) => `${partition}/${at}`)

describe('repair', () => {
  it('recovers the records before and after unreadable pages', async () => {
    const directory = await directoryWith(40, 5_000)
    const pages = pagesOf(directory, 'batches')
    erase(directory, [pages[2]!, pages[5]!, pages.at(-2)!])
    const { lost } = repair(directory, NOW_MS, quiet)
    const values = await valuesIn(directory)
    const found = [0, 1, 2].flatMap((partition) => values[`t-${partition}`]!)
    const offsets = lost.flatMap(({ partition, from, to }) =>
      Array.from({ length: to - from + 1 }, (_, at) => `${partition}/${from + at}`),
    )
    const all = [0, 1, 2].flatMap((partition) => valuesOf(partition, 40))
    expect([...found, ...offsets].toSorted()).toEqual(all.toSorted())
    expect(offsets.length).toBeLessThan(12)
  })

  it('changes nothing when the page with the schema is unreadable', async () => {
    const directory = await directoryWith(3)
    erase(directory, [1])
    const before = readFileSync(join(directory, 'broker.db'))
    expect(() => repair(directory, NOW_MS, quiet)).toThrow('so nothing can be repaired: restore a backup')
    expect(readFileSync(join(directory, 'broker.db')).equals(before)).toBe(true)
    expect(readdirSync(directory).filter((name) => /damaged|repair/.test(name))).toEqual([])
  })

  it('keeps the numbers of partitions when the row of one is lost', async () => {
    const directory = await directoryWith(2)
    change(directory, 'delete from partitions where number = 1')
    const { notes } = repair(directory, NOW_MS, quiet)
    expect(await valuesIn(directory)).toEqual({
      't-0': valuesOf(0, 2),
      't-1': [],
      't-2': valuesOf(2, 2),
      'recovered-2-0': valuesOf(1, 2),
    })
    expect(notes).toContainEqual(expect.stringContaining("partition 1 of topic 't' was lost"))
  })

  it('keeps all records of topics whose name or configuration is lost, whatever their age', async () => {
    const directory = await directoryWith(2)
    change(directory, `insert into topics (id, name, configs) values (7, 'other', '{"retention.ms":"-1"')`)
    change(directory, `delete from topics where name = 't'`)
    const { notes } = repair(directory, NOW_MS, quiet)
    expect(notes).toContainEqual(expect.stringContaining("configuration of topic 'other' is damaged"))
    const backend = await open(directory)
    for (const topic of ['recovered-1', 'recovered-2', 'recovered-3', 'other'])
      expect(await backend.topicConfigs({ topic })).toMatchObject({ 'retention.ms': '-1', 'cleanup.policy': 'delete' })
    await backend.close()
    expect(await valuesIn(directory)).toMatchObject({ 'recovered-1-0': valuesOf(0, 2) })
  })

  it('does not hide records behind a damaged start offset, and names tables with changed rows', async () => {
    const directory = await directoryWith(3)
    change(directory, 'update partitions set start_offset = 2 where number = 0')
    const { notes } = repair(directory, NOW_MS, quiet)
    expect(notes).toEqual(['table partitions does not match its checksum: its rows may be wrong or missing'])
    expect(await valuesIn(directory)).toMatchObject({ 't-0': valuesOf(0, 3) })
  })

  it('does not delete records of topics that are created after it', async () => {
    const directory = await directoryWith(2)
    // A topic was deleted, but not its records yet, when the process was killed.
    change(directory, 'insert into doomed (partition_id) values (4)')
    repair(directory, NOW_MS, quiet)
    const backend = await open(directory)
    await backend.createTopic({ name: 'new' })
    expect(Number(await backend.topicId({ topic: 'new' }))).toBeGreaterThan(4)
    await backend.close()
    const sqlite = new DatabaseSync(join(directory, 'broker.db'), { readOnly: true })
    expect(sqlite.prepare('select * from doomed').all()).toEqual([])
    sqlite.close()
  })

  it.each([
    ['a last offset beyond the integers of JavaScript', 'last_offset = 9223372036854775807'],
    ['a false last offset', 'last_offset = 4611686018427387'],
    ['a text instead of bytes', "bytes = 'x'"],
  ])('leaves out a row with %s, and keeps the next offset', async (_, assignment) => {
    const directory = await directoryWith(3)
    // Without strict tables, which a damaged row is not bound to.
    change(
      directory,
      `pragma writable_schema = on; update sqlite_schema set sql = replace(sql, ') strict', ')') where name = 'batches';
       pragma writable_schema = reset; update batches set ${assignment} where id = (1 << 43) | 1`,
    )
    const { lost } = repair(directory, NOW_MS, quiet)
    expect(lost).toEqual([{ topic: 't', partition: 0, from: 1, to: 1 }])
    expect(await valuesIn(directory)).toMatchObject({ 't-0': ['0/0', '0/2'] })
    const backend = await open(directory)
    const ends = await backend.listOffsets({
      partitions: [{ topic: 't', partition: 0 }],
      at: 'latest',
      isolation: 'read_uncommitted',
    })
    expect(ends).toMatchObject([{ offset: 3 }])
    await backend.close()
  })

  it('fails when the copy cannot be written, instead of reporting its records as lost', async () => {
    const directory = await directoryWith(3, 20_000)
    const target = openDataDirectory(join(directory, 'copy'), { nowMs: NOW_MS, fsync: 'checkpoint' })
    const pages = Number(target.sqlite.prepare('pragma page_count').get()!['page_count'])
    target.sqlite.exec(`pragma max_page_count = ${pages + 2}`)
    const source = new DatabaseSync(join(directory, 'broker.db'), { readOnly: true })
    expect(() => salvage(source, target.sqlite, new Map(), quiet)).toThrow('full')
    source.close()
    target.sqlite.exec('pragma max_page_count = 1000')
    target.close()
  })
})
