import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { directorySource } from '../../../src/plugins/connectors/directory/directory-source.ts'
import {
  InputDirectory,
  type InputDirectoryOptions,
} from '../../../src/plugins/connectors/directory/input-directory.ts'
import { ecmaPattern } from '../../../src/regex/pattern.ts'
import {
  type Position,
  runSource,
  type SourceRecord,
  type TaskLog,
  UNRESTRICTED,
  validateConfig,
} from '../../../src/sdk/index.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const SILENT: TaskLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const LONG_AGO_S = 1_700_000_000

describe('DirectorySource', () => {
  it('reads CSV with a header, with configured types and a key field', async () => {
    const input = createInput({ 'a.csv': '\ufeffid,name,price,ok\r\n1,"x, ""y""\r\nz",1.5,true\r\n2,,,\r\n' })
    const records = await input.read({ 'csv.types': 'id:int64, price:float64, ok:boolean', 'key.field': 'id' })
    expect(records.map(({ key, value }) => [key, value])).toEqual([
      [1, { id: 1, name: 'x, "y"\r\nz', price: 1.5, ok: true }],
      [2, { id: 2, name: '', price: null, ok: null }],
    ])
    expect(records[0]).toMatchObject({
      topic: 'rows',
      keySchema: { type: 'int64' },
      valueSchema: { type: 'struct', name: 'row' },
      sourcePartition: { directory: input.path, file: 'a.csv' },
      sourceOffset: { position: 47, bytes: 53, modified: LONG_AGO_S * 1000 },
    })
  })

  it('reads CSV without a header, with a custom separator, quote and escape', async () => {
    const input = createInput({ 'a.csv': "1\t'x''\ty'\n" })
    const records = await input.read({
      'csv.header': 'false',
      'csv.columns': 'n, s',
      'csv.separator': '\t',
      'csv.quote': "'",
      'csv.escape': "'",
    })
    expect(records.map(({ value }) => value)).toEqual([{ n: '1', s: "x'\ty" }])
  })

  it('detects JSON lines, text and gzip by the file name', async () => {
    const input = createInput({
      'a.ndjson': '{"n":1}\n\n{"n":12345678901234567890}\n',
      'b.log.gz': gzipSync('one\n\ntwo'),
      'c.json.gz': gzipSync('[1]'),
    })
    expect((await input.read()).map(({ value }) => value)).toEqual([
      { n: 1 },
      { n: 12345678901234567890n },
      'one',
      '',
      'two',
      [1],
    ])
  })

  it('renames a file only after all of its records are stored', async () => {
    const input = createInput({ 'a.txt': '1\n2\n3\n' })
    const run = input.start({ 'batch.size': '2' })
    const batches = [await run.nextBatch(), await run.nextBatch()]
    await nextBatches(run, 3)
    expect(input.files()).toEqual(['a.txt'])
    run.stored(batches[1]!)
    await nextBatches(run, 2)
    expect(input.files()).toEqual(['a.txt'])
    run.stored(batches[0]!)
    await nextBatches(run, 2)
    expect(input.files()).toEqual(['a.txt.done'])
  })

  it('resumes within a file after the last stored row, also in a gzip file', async () => {
    const rows = `id,name\n${Array.from({ length: 100 }, (_, n) => `${n},"name\n${n}"\n`).join('')}`
    for (const file of ['a.csv', 'a.csv.gz']) {
      const input = createInput({ [file]: file.endsWith('.gz') ? gzipSync(rows) : rows })
      const all = await input.read({}, undefined, 'keep')
      const rest = await input.read({}, all[41])
      expect(all).toHaveLength(100)
      expect(rest).toEqual(all.slice(42))
      expect(input.files()).toEqual([`${file}.done`])
    }
  })

  it('renames a file that was already read completely, and reads a new file with the same name from the beginning', async () => {
    const input = createInput({ 'a.txt': '1\n2\n' })
    const [, last] = await input.read({}, undefined, 'keep')
    expect(await input.read({}, last)).toEqual([])
    expect(input.files()).toEqual(['a.txt.done'])
    input.add('a.txt', '3\n4\n5\n')
    expect((await input.read({}, last)).map(({ value }) => value)).toEqual(['3', '4', '5'])
    expect(input.files()).toEqual(['a.txt.1.done', 'a.txt.done'])
  })

  it('lists more files than it examines concurrently', async () => {
    const names = Array.from({ length: 300 }, (_, n) => `f${String(n).padStart(3, '0')}.txt`)
    const { path } = createInput(Object.fromEntries(names.map((name) => [name, ''])))
    const found = await new InputDirectory({ ...DIRECTORY_OPTIONS, directory: path }).list(Date.now())
    expect(found.map(({ name }) => name)).toEqual(names)
  })

  it('reads files in the order of their names or modification times', async () => {
    const input = () => {
      const made = createInput({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' })
      utimesSync(join(made.path, 'b.txt'), LONG_AGO_S - 10, LONG_AGO_S - 10)
      return made
    }
    expect((await input().read()).map(({ value }) => value)).toEqual(['a', 'b', 'c'])
    expect((await input().read({ 'order.by': 'time' })).map(({ value }) => value)).toEqual(['b', 'a', 'c'])
  })

  it('ignores incomplete files, ignored suffixes, other names and directories', async () => {
    const input = createInput({ 'a.txt': 'a\n', 'a.txt.tmp': 'x', 'young.txt': 'x', 'other.log': 'x' })
    utimesSync(join(input.path, 'young.txt'), Date.now() / 1000, Date.now() / 1000)
    mkdirSync(join(input.path, 'folder.txt'))
    const records = await input.read({ 'input.file.pattern': '.*\\.txt(\\.tmp)?', 'file.minimum.age.ms': '600000' })
    expect(records.map(({ value }) => value)).toEqual(['a'])
  })

  it('waits for the ready file of a file, and deletes it afterwards', async () => {
    const input = createInput({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'b.txt.ok': '' })
    expect((await input.read({ 'ready.suffix': '.ok' })).map(({ value }) => value)).toEqual(['b'])
    expect(input.files()).toEqual(['a.txt', 'b.txt.done'])
  })

  it('moves files to the configured directories, and creates these', async () => {
    const input = createInput({ 'a.txt': 'a\n', 'b.gz': gzipSync('b\n').subarray(0, 12) })
    const to = join(temporaryDirectory(), 'deep', 'done')
    await input.read({ 'finished.policy': 'move', 'finished.path': to })
    expect([input.files(), readdirSync(to).sort(), readdirSync(join(to, 'failed'))]).toEqual([
      [],
      ['a.txt', 'failed'],
      ['b.gz'],
    ])
  })

  it('deletes files with finished.policy=delete', async () => {
    const input = createInput({ 'a.txt': 'a\n' })
    await input.read({ 'finished.policy': 'delete' })
    expect(input.files()).toEqual([])
  })

  it('rejects malformed rows and writes the others', async () => {
    const input = createInput({
      'a.csv': `id,name\n1,x\n2\n3,"y\n4,z\nfive,u\n6,"a"b\n7,${'v'.repeat(200)}\n8,w\n9,"open\n10,t`,
      'b.ndjson': '{"n":1}\n{"n":\n{"n":2}\n',
    })
    const run = input.start({ 'csv.types': 'id:int32', 'row.max.bytes': '100' })
    const records = await input.drain(run)
    expect(records.map(({ value }) => Object.values(value as object)[0])).toEqual([1, 4, 8, 10, 1, 2])
    expect(run.rejected.map(({ record, error }) => [String(record.value).slice(0, 9), error.message])).toEqual([
      ['2', expect.stringMatching(/a\.csv' up to byte 14: the row has 1 fields, expected 2$/)],
      ['3,"y', expect.stringMatching(/Quote/)],
      ['five,u', expect.stringMatching(/column id: 'five' is not an integer$/)],
      ['6,"a"b', expect.stringMatching(/Quote/)],
      ['7,vvvvvvv', expect.stringMatching(/longer than row\.max\.bytes/)],
      ['9,"open', expect.stringMatching(/Quote/)],
      ['{"n":', expect.stringMatching(/b\.ndjson' up to byte 14: the line is not valid JSON: /)],
    ])
    expect(run.rejected[0]?.record.sourceOffset).toMatchObject({ position: 14 })
  })

  it('names the field that does not have its type', async () => {
    const input = createInput({ 'a.csv': 'i,f,b\nx,,\n2147483648,,\n,1e,\n,,yes\n1,1e3,TRUE\n' })
    const run = input.start({ 'csv.types': 'i:int32,f:float64,b:boolean' })
    expect((await input.drain(run)).map(({ value }) => value)).toEqual([{ i: 1, f: 1000, b: true }])
    expect(run.rejected.map(({ error }) => error.message.replace(/.*byte \d+: /, ''))).toEqual([
      "column i: 'x' is not an integer",
      'column i: 2147483648 is out of range for int32',
      "column f: '1e' is not a number",
      "column b: 'yes' is not true or false",
    ])
  })

  it('writes the readable rows of a damaged file, and renames it as failed', async () => {
    const packed = gzipSync(Array.from({ length: 200_000 }, (_, n) => `row ${n * 7919}\n`).join(''))
    const input = createInput({ 'a.txt.gz': packed.subarray(0, packed.length / 2), 'b.csv': 'id\n1\n' })
    const run = input.start({ 'csv.types': 'none:int32' })
    const records = await input.drain(run)
    expect(records.length).toBeGreaterThan(1_000)
    expect(run.rejected.map(({ error }) => error.message)).toEqual([
      expect.stringMatching(/a\.txt\.gz' cannot be read after byte \d+ of its content: unexpected end of file$/),
      expect.stringMatching(/has no column none \(csv\.types\); its columns are id$/),
    ])
    expect(input.files()).toEqual(['a.txt.gz.failed', 'b.csv.failed'])
  })

  it('rejects a file with several columns of the same name, of which a record can have only one', async () => {
    const input = createInput({ 'a.csv': 'id,name,name\n1,first,last\n' })
    const run = input.start()
    expect(await input.drain(run)).toEqual([])
    expect(run.rejected.map(({ error }) => error.message)).toEqual([
      expect.stringMatching(
        /a\.csv' has several columns 'name': rename them, or set csv\.header=false and csv\.columns$/,
      ),
    ])
    expect(input.files()).toEqual(['a.csv.failed'])
  })

  it('reads a file again if it was changed while it was read', async () => {
    const input = createInput({ 'a.txt': '1\n' })
    const run = input.start()
    const batch = await run.nextBatch()
    input.add('a.txt', '1\n2\n')
    run.stored(batch)
    // The first reading may or may not have come across the second line.
    const values = (await input.drain(run)).map(({ value }) => value)
    expect(values.slice(-2)).toEqual(['1', '2'])
    expect(input.files()).toEqual(['a.txt.done'])
  })

  it('retries while the directory does not exist, with the remedy in the error', async () => {
    const input = createInput({})
    rmSync(input.path, { recursive: true })
    await expect(input.start().nextBatch()).rejects.toMatchObject({
      code: 'retriable',
      message: expect.stringMatching(/cannot read the directory '.*' \(ENOENT.*\): create or mount it$/),
    })
  })

  it('reports an input.path that is not a directory', async () => {
    const input = createInput({ 'a.txt': 'a\n' })
    await expect(input.start({ 'input.path': join(input.path, 'a.txt') }).nextBatch()).rejects.toMatchObject({
      code: 'retriable',
      message: expect.stringMatching(/\(ENOTDIR.*\): set input\.path to a directory$/),
    })
  })

  it('considers a file with a future modification time complete when it has not changed for the minimum age', async () => {
    const path = temporaryDirectory()
    const stamp = (text: string, atS: number) => {
      writeFileSync(join(path, 'a.txt'), text)
      utimesSync(join(path, 'a.txt'), atS, atS)
    }
    const input = new InputDirectory({ ...DIRECTORY_OPTIONS, directory: path })
    const names = async (nowMs: number) => (await input.list(nowMs)).map(({ name }) => name)
    stamp('a\n', 500)
    expect(await names(1_000_000)).toEqual(['a.txt'])
    stamp('a\n', 4_000_000)
    expect(await names(1_000_000)).toEqual([])
    expect(await names(1_004_000)).toEqual([])
    stamp('a\nb\n', 4_000_000)
    expect(await names(1_006_000)).toEqual([])
    expect(await names(1_010_000)).toEqual([])
    expect(await names(1_011_000)).toEqual(['a.txt'])
  })

  it('fails if it cannot create the directory for finished files', async () => {
    const input = createInput({ 'a.txt': 'a\n', file: '' })
    const run = input.start({ 'finished.policy': 'move', 'finished.path': join(input.path, 'file', 'done') })
    await expect(run.nextBatch()).rejects.toThrow(
      /cannot create the directory '.*done' for files that were read: ENOTDIR/,
    )
  })

  it('retries moving a file, with the remedy in the error', async () => {
    const input = createInput({ 'a.txt': 'a\n' })
    const done = join(input.path, 'done')
    const config = { 'finished.policy': 'move', 'finished.path': done }
    const run = input.start(config)
    const batch = await run.nextBatch()
    rmSync(done, { recursive: true })
    run.stored(batch)
    const failure = await input.drain(run).catch((error: Error) => error)
    expect(failure).toMatchObject({
      code: 'retriable',
      message: expect.stringMatching(
        /^cannot move, rename or delete '.*a\.txt', .*\(ENOENT.*\): grant the worker write permission in '.*' and '.*done'$/,
      ),
    })
    expect(await input.drain(input.start(config, batch[0]))).toEqual([])
    expect(readdirSync(done)).toContain('a.txt')
  })

  it('divides the files among tasks by name', { tags: ['slow'] }, async () => {
    const files = Array.from({ length: 40 }, (_, n) => [`f${n}.txt`, `${n}\n`] as const)
    const input = createInput(Object.fromEntries(files))
    const raw = { topic: 'rows', 'input.path': input.path }
    const config = await directorySource.tasks!({} as never, 3, raw, UNRESTRICTED)
    const read = await Promise.all(
      config.map(async (own, task) => (await input.drain(input.start(own, undefined, task))).map(({ value }) => value)),
    )
    expect(read.every((values) => values.length > 0)).toBe(true)
    expect(
      read
        .flat()
        .map(Number)
        .toSorted((a, b) => a - b),
    ).toEqual(files.map((_, n) => n))
  })
})

describe('the configuration of DirectorySource', () => {
  it.each<[Readonly<Record<string, string>>, string]>([
    [{ 'finished.policy': 'move' }, 'finished.policy=move requires finished.path'],
    [{ format: 'csv', 'csv.header': 'false' }, 'csv.header=false requires csv.columns'],
    [{ 'csv.header': 'false', 'csv.columns': 'a,b,a' }, 'csv.columns contains a name several times'],
    [
      { 'csv.types': 'a:number' },
      'Invalid value a:number for configuration csv.types: expected COLUMN:TYPE with one of',
    ],
    [{ 'input.file.pattern': '(' }, 'Invalid value ( for configuration input.file.pattern: Invalid regex'],
  ])('rejects %o', (written, message) => {
    const raw = { topic: 't', 'input.path': '/in', ...written }
    const errors = validateConfig(directorySource.config, raw).flatMap((value) => value.errors)
    expect(errors).toEqual([expect.stringContaining(message)])
  })
})

const DIRECTORY_OPTIONS: Omit<InputDirectoryOptions, 'directory'> = {
  ...{ pattern: ecmaPattern('.'), ignoredSuffixes: [], readySuffix: '', ageMs: 5_000, orderBy: 'name' },
  ...{ isAssigned: () => true, cleanup: { do: 'delete', failed: '.failed' }, files: UNRESTRICTED.files, log: SILENT },
}

type Run = ReturnType<typeof runSource>

function createInput(files: Readonly<Record<string, string | Buffer>>) {
  const path = temporaryDirectory()
  const add = (name: string, content: string | Buffer) => {
    writeFileSync(join(path, name), content)
    utimesSync(join(path, name), LONG_AGO_S, LONG_AGO_S)
  }
  for (const [name, content] of Object.entries(files)) add(name, content)
  const start = (config: Readonly<Record<string, string>> = {}, from?: SourceRecord, task = 0): Run => {
    const offsets: { partition: Position; offset: Position }[] = from
      ? [{ partition: from.sourcePartition, offset: from.sourceOffset }]
      : []
    const run = runSource(directorySource, {
      config: { topic: 'rows', 'input.path': path, 'poll.interval.ms': '1', ...config },
      offsets,
      task,
    })
    onTestFinished(() => run.stop())
    return run
  }
  /** Everything there is; told to be in the log at once, but for `keep`. */
  const drain = async (run: Run, keep?: 'keep') => {
    const records: SourceRecord[] = []
    for (let idle = 0; idle < 5; idle++) {
      const batch = await run.nextBatch()
      records.push(...batch)
      if (keep === undefined) run.stored(batch)
      if (batch.length > 0) idle = 0
    }
    return records
  }
  return {
    path,
    add,
    start,
    drain,
    files: () => readdirSync(path).sort(),
    async read(config: Readonly<Record<string, string>> = {}, from?: SourceRecord, keep?: 'keep') {
      const run = start(config, from)
      const records = await drain(run, keep)
      await run.stop()
      return records
    },
  }
}

async function nextBatches(run: Run, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) expect(await run.nextBatch()).toEqual([])
}
