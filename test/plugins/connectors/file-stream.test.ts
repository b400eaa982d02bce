import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  openStreamInput,
  pauseAtEnd,
  pauseWithoutFile,
} from '../../../src/plugins/connectors/file-stream/file-input.ts'
import { fileStreamSink } from '../../../src/plugins/connectors/file-stream/file-stream-sink.ts'
import { fileStreamSource } from '../../../src/plugins/connectors/file-stream/file-stream-source.ts'
import { array, FLOAT64, OPTIONAL_STRING, runSink, runSource, STRING, struct } from '../../../src/sdk/index.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const fileIn = (content?: string) => {
  const file = join(temporaryDirectory(), 'lines.txt')
  if (content !== undefined) writeFileSync(file, content)
  return file
}

describe('FileStreamSource', () => {
  const source = (file: string, position?: number) =>
    runSource(fileStreamSource, {
      config: { file, topic: 'lines', 'batch.size': '2' },
      ...(position !== undefined && { offsets: [{ partition: { filename: file }, offset: { position } }] }),
    })

  it('reads lines as string records with the position after each line as the offset', async () => {
    const file = fileIn('eins\nzwö\r\n')
    const run = source(file)
    expect(await run.take(2)).toEqual([
      {
        topic: 'lines',
        value: 'eins',
        valueSchema: STRING,
        sourcePartition: { filename: file },
        sourceOffset: { position: 5 },
      },
      {
        topic: 'lines',
        value: 'zwö',
        valueSchema: STRING,
        sourcePartition: { filename: file },
        sourceOffset: { position: 11 },
      },
    ])
    await run.stop()
  })

  it('continues after the stored position', async () => {
    const run = source(fileIn('eins\nzwei\ndrei\n'), 5)
    expect((await run.take(2)).map(({ value }) => value)).toEqual(['zwei', 'drei'])
    await run.stop()
  })

  it('yields at most batch.size records at once, and an empty batch if there are no new lines', async () => {
    const run = source(fileIn('a\nb\nc\nhalf'))
    const sizes = [await run.nextBatch(), await run.nextBatch(), await run.nextBatch()].map((batch) => batch.length)
    expect(sizes).toEqual([2, 1, 0])
    await run.stop()
  })

  it('checks for a missing file less and less often', () => {
    expect([0, 1_000, 10_000, 60_000, 3_600_000].map(pauseWithoutFile)).toEqual([1_000, 1_000, 2_000, 10_000, 10_000])
  })

  it('reads a file at its end less and less often', () => {
    expect([0, 500, 1_000, 2_000, 5_000, 3_600_000].map(pauseAtEnd)).toEqual([100, 100, 100, 200, 500, 500])
  })

  it('continues when a file has grown, and fails when it was truncated, after it has been at its end for some time', async () => {
    const file = fileIn('a\n')
    const run = source(file)
    await run.take(1)
    const waitAtEnd = async () => expect([await run.nextBatch(), await run.nextBatch()]).toEqual([[], []])
    await waitAtEnd()
    appendFileSync(file, 'b\n')
    expect((await run.take(1)).map(({ value }) => value)).toEqual(['b'])
    await waitAtEnd()
    writeFileSync(file, '')
    await expect(run.take(1)).rejects.toThrow(/has 0 bytes but was already read up to byte 4/)
    await run.stop()
  })

  it('reads the last line after its line end was written', async () => {
    const file = fileIn('a\nhal')
    const run = source(file)
    expect((await run.take(1)).map(({ value }) => value)).toEqual(['a'])
    appendFileSync(file, 'f\n')
    expect(await run.take(1)).toMatchObject([{ value: 'half', sourceOffset: { position: 7 } }])
    await run.stop()
  })

  it('waits for a file that does not exist yet', { tags: ['slow'] }, async () => {
    const file = fileIn()
    const run = source(file)
    expect(await run.nextBatch()).toEqual([])
    writeFileSync(file, 'late\n')
    expect((await run.take(1)).map(({ value }) => value)).toEqual(['late'])
    await run.stop()
  })

  it('fails if the file is shorter than the stored position', async () => {
    const run = source(fileIn('abc\n'), 100)
    await expect(run.take(1)).rejects.toThrow(
      /has 4 bytes but was already read up to byte 100: it was truncated or replaced/,
    )
    await run.stop()
  })

  it('names a file that it cannot read in the error', async () => {
    const run = source(temporaryDirectory())
    await expect(run.take(1)).rejects.toThrow(/cannot read '.*weir-/)
    await run.stop()
  })

  it('rejects altered offsets that it cannot resume from', () => {
    const config = { file: 'f', topic: 't', 'batch.size': 1 }
    const alter = (partition: object | null, offset: object | null) =>
      fileStreamSource.alterOffsets?.(config, [{ partition, offset } as never])
    expect(alter({ filename: 'other' }, { position: 0 })).toBeUndefined()
    expect(alter({ anything: 1 }, null)).toBeUndefined()
    expect(() => alter({ filename: 'f' }, {})).toThrow("contain the key 'position'")
    expect(() => alter({ filename: 'f' }, { position: 'x' })).toThrow('expected to be a Long value')
    expect(() => alter({ filename: 'f' }, { position: 1.5 })).toThrow('expected to be a Long value')
    expect(() => alter({ filename: 'f' }, { position: -1 })).toThrow('should be a non-negative value')
    expect(() => alter({ bogus: 'f' }, { position: 1 })).toThrow("contain the key 'filename'")
    expect(() => alter(null, { position: 1 })).toThrow('Partition objects cannot be null')
    expect(() => fileStreamSource.alterOffsets?.({ topic: 't', 'batch.size': 1 }, [])).toThrow('stdin')
  })
})

describe('openStreamInput', () => {
  it('returns the available bytes, and keeps those that do not fit into the buffer', async () => {
    const stream = new PassThrough()
    const input = openStreamInput(stream)
    const into = Buffer.alloc(4)
    const read = async () => into.toString('utf8', 0, await input.read(into, 0))
    expect(await read()).toBe('')
    stream.write('abcdef')
    expect([await read(), await read(), await read()]).toEqual(['abcd', 'ef', ''])
    stream.end('gh')
    expect([await read(), await read()]).toEqual(['gh', ''])
  })
})

describe('FileStreamSink', () => {
  const sink = (file: string) => runSink(fileStreamSink, { config: { file } })

  it('appends each value as a line', async () => {
    const file = fileIn('before\n')
    const run = await sink(file)
    await run.put([
      { topic: 't', value: 'eins' },
      { topic: 't', value: 'zwö' },
    ])
    await run.put([{ topic: 't', value: '' }])
    await run.flush()
    expect(readFileSync(file, 'utf8')).toBe('before\neins\nzwö\n\n')
    await run.stop()
  })

  it("formats values other than strings like Java's String.valueOf", async () => {
    const file = fileIn()
    const run = await sink(file)
    const schema = struct('Point', { x: FLOAT64, tags: array(STRING), note: OPTIONAL_STRING })
    await run.put([
      { topic: 't', value: null },
      { topic: 't', value: { a: 1, b: [true] } },
      { topic: 't', value: { x: 1, tags: ['a', 'b'], note: null }, valueSchema: schema },
      { topic: 't', value: 1e10, valueSchema: FLOAT64 },
    ])
    await run.flush()
    expect(readFileSync(file, 'utf8')).toBe('null\n{a=1, b=[true]}\nStruct{x=1.0,tags=[a, b]}\n1.0E10\n')
    await run.stop()
  })

  it('terminates an incomplete line that a crash left in the file', async () => {
    const file = fileIn('whole\nhal')
    const run = await sink(file)
    await run.put([{ topic: 't', value: 'half' }])
    await run.flush()
    expect(readFileSync(file, 'utf8')).toBe('whole\nhal\nhalf\n')
    await run.stop()
  })

  it('names a file that it cannot write to in the error', async () => {
    const run = await runSink(fileStreamSink, { config: { file: '/dev/full' } })
    onTestFinished(() => run.stop())
    await expect(run.put([{ topic: 't', value: 'a' }])).rejects.toThrow(
      /^cannot write to '\/dev\/full': ENOSPC.*\. No record is lost: correct the cause, then restart the task$/,
    )
  })

  it('names a file that it cannot open in the error', async () => {
    await expect(sink(join(temporaryDirectory(), 'no', 'such', 'file'))).rejects.toThrow(/cannot open '.*': ENOENT/)
  })
})

it('source and sink copy a file without changes', { tags: ['slow'] }, async () => {
  const content = Array.from({ length: 50_000 }, (_, line) => `${line} zeile € ${'x'.repeat(line % 200)}\n`).join('')
  const [from, to] = [fileIn(content), fileIn()]
  const source = runSource(fileStreamSource, { config: { file: from, topic: 't' } })
  const sink = await runSink(fileStreamSink, { config: { file: to } })
  for (let batch = await source.nextBatch(); batch.length > 0; batch = await source.nextBatch()) {
    await sink.put(batch.map(({ topic, value }) => ({ topic, value })))
  }
  await sink.flush()
  await Promise.all([source.stop(), sink.stop()])
  expect(readFileSync(to).equals(readFileSync(from))).toBe(true)
})
