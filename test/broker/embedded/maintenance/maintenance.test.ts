import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { backUp } from '../../../../src/broker/embedded/maintenance/backup.ts'
import { repair } from '../../../../src/broker/embedded/maintenance/repair.ts'
import { restore } from '../../../../src/broker/embedded/maintenance/restore.ts'
import { verifyDirectory } from '../../../../src/broker/embedded/maintenance/verify.ts'
import { memoryDirectory } from '../../../support/temporary-directory.ts'
import { batchOf } from '../batch.ts'
import { contentOf, open, write } from '../recorded-snapshots.ts'

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5)
const quiet = () => {}
const refused = (code: string) => expect.objectContaining({ code })

/** A closed directory and one whose process was killed, both with the same content. */
async function directories() {
  const root = memoryDirectory()
  const [closed, killed] = [join(root, 'closed'), join(root, 'killed')]
  let backend = await open(closed)
  await backend.createTopic({ name: 'a', partitions: 2, configs: { 'retention.ms': '-1' } })
  await backend.createTopic({ name: 'b', configs: { 'retention.ms': '-1' } })
  for (let round = 1; round <= 4; round++) await write(backend, round)
  await backend.close()
  backend = await open(closed)
  // Not a round that creates a topic: its checkpoint would empty the write-ahead log.
  for (let round = 5; round <= 7; round++) await write(backend, round)
  const content = await contentOf(backend)
  cpSync(closed, killed, { recursive: true })
  await backend.close()
  return { root, closed, killed, content }
}

async function contentIn(directory: string): Promise<unknown> {
  const backend = await open(directory)
  try {
    return await contentOf(backend)
  } finally {
    await backend.close()
  }
}

/** Changes one byte at each occurrence of the text, because SQLite leaves copies of rows that it has moved. */
function damage(file: string, text: string): void {
  const bytes = readFileSync(file)
  expect(bytes.includes(text)).toBe(true)
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text)) bytes[at + 3]! ^= 1
  writeFileSync(file, bytes)
}

it('backup copies all data of a closed directory and of one whose process was killed', async () => {
  const { root, closed, killed, content } = await directories()
  for (const directory of [closed, killed]) {
    const backup = join(root, `backup-of-${directory === closed ? 'closed' : 'killed'}`)
    await backUp(directory, backup, quiet)
    expect(readdirSync(backup).toSorted()).toEqual(['broker.check', 'broker.db'])
    expect(verifyDirectory(backup)).toMatchObject({ faults: [], isInUse: false })
    expect(await contentIn(backup)).toEqual(content)
  }
})

it('backup requires a new directory and leaves nothing behind when the source is damaged', {
  tags: ['slow'],
}, async () => {
  const { root, closed, killed } = await directories()
  await expect(backUp(closed, killed, quiet)).rejects.toMatchObject({ code: 'invalid_config' })
  damage(join(closed, 'broker.db'), '1/2 xxx')
  const backup = join(root, 'backup')
  await expect(backUp(closed, backup, quiet)).rejects.toMatchObject({ code: 'data_corrupt' })
  expect(readdirSync(backup)).toEqual([])
  await expect(backUp(root, join(root, 'other'), quiet)).rejects.toMatchObject({ code: 'invalid_config' })
})

it('verify reports the file, topic, partition and offsets of damage', async () => {
  const { closed } = await directories()
  expect(verifyDirectory(closed)).toMatchObject({ faults: [], ranges: [] })
  damage(join(closed, 'broker.db'), '5/1 xxx')
  expect(verifyDirectory(closed)).toMatchObject({
    faults: expect.arrayContaining([
      expect.objectContaining({ file: join(closed, 'broker.db'), message: expect.stringContaining('checksum') }),
    ]),
    ranges: [{ topic: 'b', partition: 0, from: 4, to: 4 }],
  })
})

it('repair removes and reports a damaged batch, and keeps all other records and the damaged files', {
  tags: ['slow'],
}, async () => {
  const { closed } = await directories()
  damage(join(closed, 'broker.db'), '5/1 xxx')
  const report = repair(closed, NOW_MS, quiet)
  expect(report).toMatchObject({ isSound: false, lost: [{ topic: 'b', partition: 0, from: 4, to: 4 }], notes: [] })
  expect(report.damaged).toBe(join(closed, 'damaged-2026-01-02T030405Z'))
  expect(existsSync(join(report.damaged!, 'broker.db'))).toBe(true)
  expect(verifyDirectory(closed)).toMatchObject({ faults: [] })
  const { records } = (await contentIn(closed)) as {
    records: { topic: string; records: { records: { value: string }[] } }[]
  }
  const values = records.find(({ topic }) => topic === 'b')!.records.records.map(({ value }) => value.slice(0, 3))
  expect(values).toEqual(['1/1', '2/1', '3/1', '4/1', '6/1', '7/1'])
  expect(repair(closed, NOW_MS, quiet)).toMatchObject({ isSound: true, damaged: undefined })
})

it('repair reports the records lost with a missing write-ahead log and does not reuse their offsets', async () => {
  const { killed } = await directories()
  rmSync(join(killed, 'broker.db-wal'))
  const { lost } = repair(killed, NOW_MS, quiet)
  expect(lost).toContainEqual({ topic: 'b', partition: 0, from: 4, to: 6 })
  const backend = await open(killed)
  const batches = [{ topic: 'b', partition: 0, bytes: batchOf(['next']) }]
  expect(await backend.produce({ node: 0, timeoutMs: 1, batches })).toMatchObject([{ baseOffset: 7 }])
  await backend.close()
})

it('repair keeps everything before a damaged part of the write-ahead log, and reports the rest', {
  tags: ['slow'],
}, async () => {
  const { killed } = await directories()
  const wal = join(killed, 'broker.db-wal')
  const bytes = readFileSync(wal)
  bytes[Math.floor(bytes.length * 0.6)]! ^= 1
  writeFileSync(wal, bytes)
  await expect(open(killed)).rejects.toMatchObject({ code: 'data_corrupt', message: expect.stringContaining(wal) })
  const { lost } = repair(killed, NOW_MS, quiet)
  expect(lost).toContainEqual({ topic: 'b', partition: 0, from: expect.any(Number), to: 6 })
  expect(JSON.stringify(await contentIn(killed))).toContain('5/1 xxx')
})

it('repair loses nothing when only broker.check is missing', async () => {
  const { closed, killed, content } = await directories()
  for (const directory of [closed, killed]) {
    rmSync(join(directory, 'broker.check'))
    await expect(open(directory)).rejects.toMatchObject({ code: 'data_corrupt' })
    expect(repair(directory, NOW_MS, quiet)).toMatchObject({ lost: [] })
    expect(await contentIn(directory)).toEqual(content)
  }
})

it('restore replaces existing data only with `replaces`, and keeps it in a subdirectory', {
  tags: ['slow'],
}, async () => {
  const { root, closed, content } = await directories()
  const [backup, other] = [join(root, 'backup'), join(root, 'other')]
  await backUp(closed, backup, quiet)
  await (await open(other)).close()
  const options = { nowMs: NOW_MS }
  expect(() => restore(backup, other, { ...options, replaces: false })).toThrow(refused('invalid_config'))
  const { replaced } = restore(backup, other, { ...options, replaces: true })
  expect(readdirSync(replaced!).toSorted()).toEqual(['broker.check', 'broker.db'])
  expect(await contentIn(other)).toEqual(content)
  restore(backup, join(root, 'new'), { ...options, replaces: false })
  expect(await contentIn(join(root, 'new'))).toEqual(content)
})

it('restore changes nothing when the backup is damaged', async () => {
  const { root, closed, killed, content } = await directories()
  const backup = join(root, 'backup')
  await backUp(closed, backup, quiet)
  truncateSync(join(backup, 'broker.db'), 40_000)
  const options = { nowMs: NOW_MS, replaces: true }
  expect(() => restore(backup, killed, options)).toThrow(refused('data_corrupt'))
  expect(await contentIn(killed)).toEqual(content)
})

it('verify, repair and backup reject a directory without data', async () => {
  const directory = memoryDirectory()
  const unusable = refused('invalid_config')
  expect(() => verifyDirectory(directory)).toThrow(unusable)
  expect(() => verifyDirectory(join(directory, 'none'))).toThrow(unusable)
  expect(() => repair(directory, NOW_MS, quiet)).toThrow(unusable)
  await expect(backUp(directory, join(directory, 'backup'), quiet)).rejects.toEqual(unusable)
})
