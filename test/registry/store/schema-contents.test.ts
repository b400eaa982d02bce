import { describe, expect, it } from 'vitest'
import { guidOf, type SchemaContent } from '../../../src/registry/model/schema.ts'
import { SchemaContents } from '../../../src/registry/store/schema-contents.ts'

function contentOf(text: string, more: Partial<SchemaContent> = {}): SchemaContent {
  const bare = { type: 'AVRO', text, references: [], metadata: undefined, ruleSet: undefined } as const
  return { ...bare, guid: guidOf(bare), ...more }
}

describe('the contents of schemas', () => {
  it('are stored once, and returned as they were added', () => {
    const contents = new SchemaContents(10)
    const written = Array.from({ length: 100 }, (_, at) =>
      contentOf(`"${at}"`, at % 2 ? { metadata: { properties: { at: String(at) } } } : {}),
    )
    const rows = written.map((content) => contents.acquire(content))
    expect(written.map((content) => contents.acquire(content))).toEqual(rows)
    expect(rows.map((row) => contents.get(row, 'AVRO'))).toEqual(written)
    expect(written.map(({ guid }) => contents.rowOf(guid))).toEqual(rows)
    for (const row of [...rows, ...rows]) contents.release(row)
    expect(written.map(({ guid }) => contents.rowOf(guid))).toEqual(written.map(() => undefined))
  })

  it('have any text as GUID, because a record can contain it', () => {
    const contents = new SchemaContents(10)
    const guids = ['', 'md5', 'ABCDEF00-0000-0000-0000-000000000000', '0123456789abcdef0123456789abcdef0123']
    const rows = guids.map((guid) => contents.acquire(contentOf(guid, { guid })))
    expect(rows.map((row) => contents.get(row, 'AVRO').guid)).toEqual(guids)
    for (const row of rows) contents.release(row)
    expect(guids.map((guid) => contents.rowOf(guid))).toEqual(guids.map(() => undefined))
  })

  it('are found by GUID when the first 53 bits of several are equal', () => {
    const contents = new SchemaContents(10)
    const guids = ['1', '2', '3'].map((digit) => `ffffffff-ffff-ffff-0000-00000000000${digit}`)
    const rows = guids.map((guid) => contents.acquire(contentOf(guid, { guid })))
    contents.release(rows[1]!)
    expect(guids.map((guid) => contents.rowOf(guid))).toEqual([rows[0], undefined, rows[2]])
  })

  it('remain readable after their last use, when their row is used again', () => {
    const contents = new SchemaContents(10)
    const row = contents.acquire(contentOf('"old"'))
    contents.acquire(contentOf('"old"'))
    contents.release(row)
    const old = contents.get(row, 'AVRO')
    contents.release(row)
    expect(contents.rowOf(old.guid)).toBeUndefined()
    expect(contents.acquire(contentOf('"new"'))).toBe(row)
    expect([old, contents.get(row, 'AVRO')]).toEqual([contentOf('"old"'), contentOf('"new"')])
  })
})
