import { cpSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { ChecksumFile } from '../../../src/broker/embedded/checksum-file.ts'
import { checkDataDirectory } from '../../../src/broker/embedded/data-directory-check.ts'
import { dataFilesOf } from '../../../src/broker/embedded/data-files.ts'
import { memoryDirectory } from '../../support/temporary-directory.ts'
import { open } from './recorded-snapshots.ts'

let running: string
let closed: string

beforeEach(async () => {
  closed = join(memoryDirectory(), 'data')
  running = join(memoryDirectory(), 'copy')
  const backend = await open(closed)
  await backend.createTopic({ name: 'orders', partitions: 1 })
  cpSync(closed, running, { recursive: true })
  await backend.close()
})

const check = (directory: string) =>
  checkDataDirectory(dataFilesOf(directory), { pages: Number.POSITIVE_INFINITY, faults: 9 })
const walDamage = (directory: string, message: string) => ({
  kind: 'damaged',
  faults: [{ file: dataFilesOf(directory).wal, message }],
})

it('accepts a running and a closed directory', () => {
  expect([check(running), check(closed)]).toMatchObject([
    { kind: 'with-checksums', usesWal: true },
    { kind: 'with-checksums', usesWal: false },
  ])
})

it('reports a write-ahead log that was added to a closed directory', () => {
  cpSync(dataFilesOf(running).wal, dataFilesOf(closed).wal)
  expect(check(closed)).toMatchObject(
    walDamage(closed, 'was changed after the directory was closed: restore the log that belongs to it'),
  )
})

it('reports the write-ahead log of another directory', async () => {
  const directory = join(memoryDirectory(), 'other')
  const other = await open(directory)
  await other.createTopic({ name: 'payments', partitions: 1 })
  cpSync(dataFilesOf(directory).wal, dataFilesOf(running).wal)
  await other.close()
  expect(check(running)).toMatchObject(
    walDamage(running, 'is from another state of the directory than broker.check (different salts)'),
  )
})

it.each([
  [
    'after a restart of the machine, with the option that prevents it',
    true,
    /^lost its last records when this machine stopped: \d+ bytes were acknowledged, but only 32 bytes are readable\. --data-fsync commit prevents this$/,
  ],
  ['on the same boot', false, /^is truncated or damaged: \d+ bytes were acknowledged/],
])('reports a truncated write-ahead log %s', (_, restarted, message) => {
  const files = dataFilesOf(running)
  truncateSync(files.wal, 40)
  if (restarted) {
    const checksums = ChecksumFile.open(files.check)
    checksums.writeHeader({ ...checksums.readHeader()!, boot: '00000000-0000-4000-8000-000000000000' })
    checksums.close()
  }
  expect(check(running)).toMatchObject(walDamage(running, expect.stringMatching(message)))
})
