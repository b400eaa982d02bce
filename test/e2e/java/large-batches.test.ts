import { expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { startCompiledSource } from '../../support/java-host.ts'

const javaHost = await real('javaHost')

const MEBIBYTE = 1024 * 1024

/** Starts a task that returns one batch of `count` records of this size. */
const startSource = (count: number, recordBytes: number) =>
  startCompiledSource(javaHost.address, 'LargeBatches', {
    heapMax: '1g',
    config: { count: String(count), 'record.bytes': String(recordBytes) },
  })

describeOn([javaHost], 'a batch of a Java source', () => {
  it('of more bytes than a frame can have arrives as a whole', async () => {
    const source = await startSource(10, 30 * MEBIBYTE)
    const batch = await source.nextBatch()
    expect(batch.map(({ sourceOffset, value }) => [sourceOffset['n'], (value as Uint8Array).length])).toEqual(
      Array.from({ length: 10 }, (_, at) => [at, 30 * MEBIBYTE]),
    )
  })

  it('with a record of more bytes than a frame can have fails with a sentence', async () => {
    const source = await startSource(1, 257 * MEBIBYTE)
    await expect(source.nextBatch()).rejects.toThrow(
      'a record for topic large is too large: at most 268435456 bytes can be sent from the JVM to the worker at once',
    )
  })
})
