import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { directorySource } from '../../../src/plugins/connectors/directory/directory-source.ts'
import { InputDirectory, openInputFile } from '../../../src/plugins/connectors/directory/input-directory.ts'
import { ecmaPattern } from '../../../src/regex/pattern.ts'
import { type Position, runSource, type SourceRecord, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const MODIFIED_S = 1_700_000_000
const FILES = UNRESTRICTED.files
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

function listFiles(directory: string) {
  const inbox = new InputDirectory({
    directory,
    pattern: ecmaPattern('.'),
    ignoredSuffixes: [],
    readySuffix: '',
    ageMs: 0,
    orderBy: 'name',
    isAssigned: () => true,
    cleanup: { do: 'keep' },
    files: FILES,
    log: SILENT,
  })
  return inbox.list(Date.now())
}

/** A volume as kubelet mounts a ConfigMap: `key -> ..data/key` and `..data -> ..VERSION`, which an update swaps. */
function mountConfigMap(files: Readonly<Record<string, string>>) {
  const path = temporaryDirectory()
  let version = 0
  const publish = (data: Readonly<Record<string, string>>) => {
    version += 1
    const own = `..2026_11_22_14_00_0${version}.1`
    mkdirSync(join(path, own))
    for (const [name, text] of Object.entries(data)) {
      writeFileSync(join(path, own, name), text)
      utimesSync(join(path, own, name), MODIFIED_S + version, MODIFIED_S + version)
    }
    symlinkSync(own, join(path, '..data_tmp'))
    renameSync(join(path, '..data_tmp'), join(path, '..data'))
    for (const old of readdirSync(path).filter((name) => name.startsWith('..2') && name !== own)) {
      rmSync(join(path, old), { recursive: true })
    }
  }
  publish(files)
  for (const name of Object.keys(files)) symlinkSync(join('..data', name), join(path, name))
  return { path, publish }
}

function startSource(path: string, config: Readonly<Record<string, string>> = {}, from?: SourceRecord) {
  const offsets: { partition: Position; offset: Position }[] = from
    ? [{ partition: from.sourcePartition, offset: from.sourceOffset }]
    : []
  const run = runSource(directorySource, {
    config: { topic: 'rows', 'input.path': path, 'poll.interval.ms': '1', 'finished.policy': 'keep', ...config },
    offsets,
  })
  onTestFinished(() => run.stop())
  /** The values of all files that are found, with every batch reported as stored. */
  const readAll = async () => {
    const records: SourceRecord[] = []
    for (let idle = 0; idle < 5; idle++) {
      const batch = await run.nextBatch()
      records.push(...batch)
      run.stored(batch)
      if (batch.length > 0) idle = 0
    }
    return records
  }
  return { readAll }
}

const valuesOf = (records: readonly SourceRecord[]) => records.map(({ value }) => value)

describe('DirectorySource on a mounted ConfigMap', () => {
  it('reads each key once without changing the volume', async () => {
    const { path } = mountConfigMap({ 'a.txt': '1\n2\n', 'b.txt': '3\n' })
    const entries = readdirSync(path)
    const run = startSource(path)
    const records = await run.readAll()
    expect(valuesOf(records)).toEqual(['1', '2', '3'])
    expect(records[0]?.sourcePartition).toEqual({ directory: path, file: 'a.txt' })
    expect(readdirSync(path)).toEqual(entries)
  })

  it('reads an update of the volume as a new version of its files', async () => {
    const volume = mountConfigMap({ 'a.txt': '1\n2\n' })
    const run = startSource(volume.path)
    expect(valuesOf(await run.readAll())).toEqual(['1', '2'])
    volume.publish({ 'a.txt': '3\n4\n' })
    expect(valuesOf(await run.readAll())).toEqual(['3', '4'])
  })

  it('does not repeat records after a restart, and reads an updated key from the beginning', async () => {
    const volume = mountConfigMap({ 'a.txt': '1\n2\n' })
    const last = (await startSource(volume.path).readAll()).at(-1)!
    expect(await startSource(volume.path, {}, last).readAll()).toEqual([])
    volume.publish({ 'a.txt': '5\n6\n' })
    expect(valuesOf(await startSource(volume.path, {}, last).readAll())).toEqual(['5', '6'])
  })

  it('moves the content of a key instead of the link with finished.policy=move', async () => {
    const { path } = mountConfigMap({ 'a.txt': '1\n' })
    const done = join(path, 'done')
    await startSource(path, { 'finished.policy': 'move', 'finished.path': done }).readAll()
    expect(readFileSync(join(done, 'a.txt'), 'utf8')).toBe('1\n')
    expect(readdirSync(path)).not.toContain('a.txt')
  })
})

describe('a symbolic link in the directory', () => {
  it.each([
    ['to a file outside', (path: string, outside: string) => symlinkSync(join(outside, 'secret'), join(path, 'x.txt'))],
    [
      'through a directory outside',
      (path: string, outside: string) => {
        symlinkSync(outside, join(path, '..data'))
        symlinkSync('..data/secret', join(path, 'x.txt'))
      },
    ],
    ['to a file that does not exist', (path: string) => symlinkSync('nothing', join(path, 'x.txt'))],
    ['to itself', (path: string) => symlinkSync('x.txt', join(path, 'x.txt'))],
    ['to the directory', (path: string) => symlinkSync('.', join(path, 'x.txt'))],
  ])('is ignored if it points %s', async (_case, link) => {
    const [path, outside] = [temporaryDirectory(), temporaryDirectory()]
    writeFileSync(join(outside, 'secret'), 'secret\n')
    writeFileSync(join(path, 'a.txt'), 'a\n')
    utimesSync(join(path, 'a.txt'), MODIFIED_S, MODIFIED_S)
    utimesSync(join(outside, 'secret'), MODIFIED_S, MODIFIED_S)
    link(path, outside)
    expect(valuesOf(await startSource(path).readAll())).toEqual(['a'])
  })

  it('is not followed if its target was replaced after it was listed', async () => {
    const volume = mountConfigMap({ 'a.txt': '1\n' })
    const outside = temporaryDirectory()
    writeFileSync(join(outside, 'a.txt'), 'secret\n')
    const [found] = await listFiles(volume.path)
    const version = readdirSync(volume.path).find((name) => name.startsWith('..2'))!
    rmSync(join(volume.path, version), { recursive: true })
    symlinkSync(outside, join(volume.path, version))
    await expect(openInputFile(found!, volume.path, FILES)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
