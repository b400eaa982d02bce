import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { HostConnection } from '../../../src/java/host-connection.ts'
import type { JavaHost } from '../../../src/java/java-host.ts'
import {
  array,
  BOOLEAN,
  BYTES,
  decimal,
  FLOAT32,
  FLOAT64,
  INT8,
  INT32,
  INT64,
  map,
  optional,
  type Schema,
  STRING,
  TIME,
  TIMESTAMP,
} from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { type Data, dataWithoutSchema, dataWithSchema } from '../../support/connect-data.ts'
import { connectToHost } from '../../support/java-host.ts'

const javaHost = await real('javaHost')

describeOn([javaHost], 'values that cross to a Java host and back', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-values-'))
  let host: JavaHost
  let connection: HostConnection

  beforeAll(async () => {
    ;({ host, connection } = await connectToHost(javaHost.address, directory))
  })

  afterAll(async () => {
    connection.close()
    await host.stop()
    rmSync(directory, { recursive: true })
  })

  async function echo(sent: readonly Data[]): Promise<readonly Data[]> {
    const body = await connection.request('data.echo', (writer) => {
      writer.varint(sent.length)
      for (const { schema, value } of sent) {
        writer.schema(schema)
        writer.value(schema, value)
      }
    })
    return Array.from({ length: body.varint() }, () => {
      if (body.uint8() !== 0) throw new Error('the host could not echo a value')
      const schema = body.schema()
      return { schema, value: body.value(schema) }
    })
  }

  it('are unchanged, with their schemas', async () => {
    const batches = fc.array(dataWithSchema, { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(batches, async (sent) => {
        expect(await echo(sent)).toEqual(sent)
      }),
      { numRuns: 200 },
    )
  })

  it('are unchanged without a schema', async () => {
    const batches = fc.array(dataWithoutSchema, { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(batches, async (sent) => {
        expect(await echo(sent)).toEqual(sent)
      }),
      { numRuns: 200 },
    )
  })

  it('keep the default of a schema', async () => {
    const defaults: readonly (readonly [Schema, unknown])[] = [
      [STRING, 'a'],
      [INT64, 2n ** 60n],
      [decimal(2), { unscaled: 12345n, scale: 2 }],
      [TIMESTAMP, new Date(1_700_000_000_000)],
      [TIME, 5],
      [array(INT32), [1, 2]],
      [map(STRING, INT8), new Map([['a', 1]])],
    ]
    const sent = defaults.map(([schema, value]) => ({ schema: { ...schema, default: value }, value }))
    expect(await echo(sent)).toEqual(sent)
  })

  it('keep the limits of each type', async () => {
    const limits: readonly (readonly [Schema, readonly unknown[]])[] = [
      [FLOAT32, [Number.NaN, -0, 0, Infinity, -Infinity, 2 ** -149, Math.fround(3.4028234663852886e38)]],
      [FLOAT64, [Number.NaN, -0, 0, Infinity, -Infinity, Number.MIN_VALUE, Number.MAX_VALUE]],
      [INT64, [-(2n ** 63n), 2n ** 63n - 1n, Number.MAX_SAFE_INTEGER, -1, 0]],
      [TIMESTAMP, [new Date(-8.64e15), new Date(8.64e15), new Date(0)]],
      [STRING, ['', '\0', '\u{10ffff}', '\ufeff', 'x'.repeat(8 * 1_048_576), 'ü'.repeat(42), 'ü'.repeat(43)]],
      [BYTES, [Buffer.alloc(0), Buffer.alloc(300_000, 7)]],
      [array(optional(STRING)), [[], [null], Array.from({ length: 100_000 }, () => 'x')]],
    ]
    const scales = [-(2 ** 31), -1, 0, 1, 2 ** 31 - 1]
    const decimals = scales.map((scale) => ({ schema: decimal(scale), value: { unscaled: -(10n ** 400n), scale } }))
    const sent = limits.flatMap(([schema, values]) => values.map((value) => ({ schema, value })))
    expect(await echo([...sent, ...decimals])).toEqual([...sent, ...decimals])
    expect(await echo([{ schema: null, value: [Number.NaN, -0, 2n ** 63n - 1n, null] }])).toEqual([
      { schema: null, value: [Number.NaN, -0, 2n ** 63n - 1n, null] },
    ])
  })

  it('lose halves of surrogate pairs, which UTF-8 cannot express', async () => {
    expect(await echo([{ schema: STRING, value: 'a\ud800b\udc00' }])).toEqual([
      { schema: STRING, value: 'a\ufffdb\ufffd' },
    ])
  })

  it('may be nested as deeply as JSON parsers of Java allow', async () => {
    let value: unknown = 'inside'
    for (let depth = 0; depth < 1_000; depth++) value = depth % 2 === 0 ? [value] : { a: value }
    expect(await echo([{ schema: null, value }])).toEqual([{ schema: null, value }])
  })

  it('keep map keys of any type', async () => {
    const key = { type: 'struct', name: 'Key', fields: [{ name: 'id', schema: INT32 }] } satisfies Schema
    const schema = map(key, map(array(STRING), BOOLEAN))
    const value = new Map([[{ id: 1 }, new Map([[['a', 'b'], true]])]])
    expect(await echo([{ schema, value }])).toEqual([{ schema, value }])
  })

  it('stay valid when more schemas were sent than both sides keep', async () => {
    const kept: Data = { schema: { ...STRING, name: 'kept' }, value: 'kept' }
    for (let round = 0; round < 12; round++) {
      const sent = Array.from({ length: 1_000 }, (_, index) => ({
        schema: { ...INT32, name: `${round}-${index}` },
        value: index,
      }))
      expect(await echo([kept, ...sent])).toEqual([kept, ...sent])
    }
  })

  it('are rejected if their schema does not allow them', async () => {
    await expect(echo([{ schema: STRING, value: 5 }])).rejects.toThrow('expected a value of type string, got number')
    expect(await echo([{ schema: STRING, value: 'still usable' }])).toEqual([{ schema: STRING, value: 'still usable' }])
  })
})
