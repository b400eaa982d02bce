import { copyFileSync, cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { CheckFile, readCheckFile } from '../../../src/broker/embedded/check-file.ts'
import { PAGE_BYTES } from '../../../src/broker/embedded/database-format.ts'
import { memoryDirectory } from '../../support/temporary-directory.ts'
import { contentOf, open, write } from './recorded-snapshots.ts'

/** Copies of a directory while a program used it and after it was closed, earlier and later. */
async function copies() {
  const root = memoryDirectory()
  const directory = join(root, 'data')
  const copy = (name: string) => {
    cpSync(directory, join(root, name), { recursive: true })
    return join(root, name)
  }
  let backend = await open(directory)
  await backend.createTopic({ name: 'a', partitions: 2, configs: { 'retention.ms': '-1' } })
  await backend.createTopic({ name: 'b', configs: { 'retention.ms': '-1' } })
  await write(backend, 1)
  const runningEarlier = copy('running-earlier')
  await backend.close()
  const closedEarlier = copy('closed-earlier')
  backend = await open(directory)
  for (const round of [2, 3, 5]) await write(backend, round)
  const content = await contentOf(backend)
  const running = copy('running')
  await backend.close()
  return { runningEarlier, closedEarlier, running, closed: copy('closed'), content }
}

const replace = (file: string, directory: string, from: string) => copyFileSync(join(from, file), join(directory, file))

const refusal = (file: string, message: string | RegExp) => ({
  code: 'data_corrupt',
  message: expect.stringMatching(
    new RegExp(`${file.replaceAll('.', '\\.')} ${message instanceof RegExp ? message.source : message}`),
  ),
})

it('reports an older database file, and an older write-ahead log', async () => {
  const { runningEarlier, closedEarlier, running, closed } = await copies()
  replace('broker.db', closed, closedEarlier)
  await expect(open(closed)).rejects.toMatchObject(refusal('broker.db', 'is older than broker.check: commit '))
  replace('broker.db-wal', running, runningEarlier)
  await expect(open(running)).rejects.toMatchObject(
    refusal('broker.db-wal', 'is missing, truncated, damaged or from an earlier time: commit '),
  )
})

it('reports an older database file below a current write-ahead log', async () => {
  const { runningEarlier, running } = await copies()
  replace('broker.db', running, runningEarlier)
  await expect(open(running)).rejects.toMatchObject({ code: 'data_corrupt' })
})

it('reports a write-ahead log that was added to a closed directory, and changes nothing', async () => {
  const { runningEarlier, closed, content } = await copies()
  replace('broker.db-wal', closed, runningEarlier)
  await expect(open(closed)).rejects.toMatchObject({ code: 'data_corrupt' })
  // The log was not moved into the database.
  rmSync(join(closed, 'broker.db-wal'))
  const backend = await open(closed)
  expect(await contentOf(backend)).toEqual(content)
  await backend.close()
})

it('reports the files of another directory', async () => {
  const [{ running }, other] = [await copies(), await copies()]
  replace('broker.db-wal', running, other.running)
  await expect(open(running)).rejects.toMatchObject(
    refusal('broker.db-wal', 'is from another data directory than broker.check'),
  )
  const { closed } = await copies()
  replace('broker.db', closed, other.closed)
  await expect(open(closed)).rejects.toMatchObject(
    refusal('broker.db', 'is from another data directory than broker.check'),
  )
})

it.each([
  [
    'after a restart of the machine, with the option that prevents it',
    true,
    /lost its last records when this machine stopped: commit \d+ was acknowledged, but the last one in it is \d+\. --data-fsync commit prevents this/,
  ],
  ['on the same boot', false, /is missing, truncated, damaged or from an earlier time: commit \d+ was acknowledged/],
])('reports a truncated write-ahead log %s', async (_, restarted, message) => {
  const { running } = await copies()
  truncateSync(join(running, 'broker.db-wal'), 40)
  const check = join(running, 'broker.check')
  if (restarted) CheckFile.create(check, { ...readCheckFile(check)!, boot: 'another' }).close()
  await expect(open(running)).rejects.toMatchObject(refusal('broker.db-wal', message))
})

it('reports a page that the disk did not write, although the structure of the database is intact', async () => {
  const { closed, closedEarlier } = await copies()
  const file = join(closed, 'broker.db')
  const [before, after] = [readFileSync(join(closedEarlier, 'broker.db')), readFileSync(file)]
  const sqlite = new DatabaseSync(file, { readOnly: true })
  const [root] = sqlite.prepare("select rootpage from sqlite_schema where name = 'group_offsets'").all()
  sqlite.close()
  const at = (Number(root!['rootpage']) - 1) * PAGE_BYTES
  expect(before.subarray(at, at + PAGE_BYTES).equals(after.subarray(at, at + PAGE_BYTES))).toBe(false)
  before.copy(after, at, at, at + PAGE_BYTES)
  writeFileSync(file, after)
  await expect(open(closed)).rejects.toMatchObject(
    refusal('broker.db', 'has rows in table group_offsets that do not match their checksum'),
  )
})

it.each([
  ['a deleted batch', 'delete from batches where rowid = (select min(rowid) from batches)'],
  ['a start offset', 'update partitions set start_offset = 1'],
  ['an end offset', 'update partitions set end_floor = 9'],
  ['a committed offset', 'update group_offsets set offset = offset + 1'],
  ['a partition to delete', 'insert into doomed (partition_id) values (1)'],
])('reports %s that was changed in a valid database', { tags: ['slow'] }, async (_, sql) => {
  const { closed } = await copies()
  const sqlite = new DatabaseSync(join(closed, 'broker.db'))
  sqlite.exec(sql)
  sqlite.close()
  await expect(open(closed)).rejects.toMatchObject(refusal('broker.db', 'has rows in table '))
})
