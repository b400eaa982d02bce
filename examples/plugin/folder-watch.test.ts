import assert from 'node:assert/strict'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runSource } from 'weir/sdk'
import { folderWatch } from './folder-watch.ts'

/** A folder with files that were changed at these times, in seconds. */
async function folderOf(files: Record<string, number>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'folder-watch-'))
  for (const [name, seconds] of Object.entries(files)) {
    await writeFile(join(folder, name), 'text')
    await utimes(join(folder, name), seconds, seconds)
  }
  return folder
}

test('writes records in the order of changes', async (t) => {
  const folder = await folderOf({ b: 20, a: 20, c: 10 })
  t.after(() => rm(folder, { recursive: true }))
  const source = runSource(folderWatch, { config: { folder, topic: 'files' } })
  const records = await source.take(3)
  await source.stop()
  assert.deepEqual(
    records.map(({ value }) => value),
    [
      { name: 'c', bytes: 4, changed: new Date(10_000) },
      { name: 'a', bytes: 4, changed: new Date(20_000) },
      { name: 'b', bytes: 4, changed: new Date(20_000) },
    ],
  )
})

test('continues at its offset and detects changes', async (t) => {
  const folder = await folderOf({ a: 20, b: 20 })
  t.after(() => rm(folder, { recursive: true }))
  const source = runSource(folderWatch, {
    config: { folder, topic: 'files', 'poll.interval.ms': '1' },
    offsets: [{ partition: { folder }, offset: { changedMs: 20_000, name: 'a' } }],
  })
  assert.deepEqual((await source.take(1))[0]?.key, 'b')
  await utimes(join(folder, 'a'), 30, 30)
  assert.deepEqual((await source.take(1))[0]?.sourceOffset, { changedMs: 30_000, name: 'a' })
  await source.stop()
})

test('throws a RetriableError while the folder does not exist', async () => {
  const source = runSource(folderWatch, { config: { folder: '/no/such/folder', topic: 'files' } })
  await assert.rejects(source.take(1), { code: 'retriable', message: /cannot be read/ })
})

test('rejects a configuration without a required key', () => {
  assert.throws(() => runSource(folderWatch, { config: { topic: 'files' } }), /configuration "folder"/)
})
