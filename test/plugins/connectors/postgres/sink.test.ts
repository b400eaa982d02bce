import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoted } from '../../../../src/plugins/connectors/jdbc/identifier.ts'
import { compactChanges } from '../../../../src/plugins/connectors/jdbc/sink/row-changes.ts'
import { tableNaming } from '../../../../src/plugins/connectors/jdbc/sink/table-naming.ts'
import type { PostgresColumn } from '../../../../src/plugins/connectors/postgres/sink/postgres-column.ts'
import { postgresSink } from '../../../../src/plugins/connectors/postgres/sink/postgres-sink.ts'
import {
  deleteSql,
  insertSql,
  updateSql,
  upsertSql,
} from '../../../../src/plugins/connectors/postgres/sink/write-statements.ts'
import { parseConfig, type SinkRecord, validateConfig } from '../../../../src/sdk/index.ts'

const target = {
  table: '"public"."T"',
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'word', type: 'text' },
  ],
}

describe('the write statements', () => {
  it('have one text array per column as parameters', () => {
    const rows = 'unnest($1::text[], $2::text[]) AS r (c0, c1)'
    const insert = `INSERT INTO "public"."T" ("id", "word") SELECT r.c0::integer, r.c1 FROM ${rows}`
    expect(insertSql(target, quoted)).toBe(insert)
    expect(upsertSql(target, 1, quoted)).toBe(`${insert} ON CONFLICT ("id") DO UPDATE SET "word" = EXCLUDED."word"`)
    expect(upsertSql(target, 2, quoted)).toBe(`${insert} ON CONFLICT ("id", "word") DO NOTHING`)
    expect(updateSql(target, 1, quoted)).toBe(
      `UPDATE "public"."T" AS t SET "word" = r.c1 FROM ${rows} WHERE t."id" = r.c0::integer`,
    )
    expect(deleteSql(target, 1, quoted)).toBe(
      'DELETE FROM "public"."T" AS t USING unnest($1::text[]) AS r (c0) WHERE t."id" = r.c0::integer',
    )
  })

  it('have an array of the type of the column if its values are in binary format', () => {
    const [id, word] = target.columns
    const mixed = { ...target, columns: [{ ...id!, isBinary: true }, word!] }
    expect(insertSql(mixed, quoted)).toBe(
      'INSERT INTO "public"."T" ("id", "word") SELECT r.c0, r.c1 FROM unnest($1::integer[], $2::text[]) AS r (c0, c1)',
    )
  })
})

describe('compactChanges', () => {
  type Step = readonly [key: string, word: string | null]
  const toRecord = ([key, word]: Step) => ({ key, value: word }) as unknown as SinkRecord
  const stepOf = (record: SinkRecord) => [record.key, record.value] as Step
  const column = (name: 'key' | 'value'): PostgresColumn => ({
    name,
    isKey: name === 'key',
    type: 'text',
    fallback: undefined,
    notNull: false,
    textOf: (record) => record[name] as string | null,
    pick: (record) => record[name],
    binaryType: () => undefined,
  })
  const columns = [column('key'), column('value')]
  const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.option(fc.constantFrom('1', '2', '3'))))
  const compact = (made: readonly Step[], insertMode: 'insert' | 'upsert' | 'update') => {
    const found = compactChanges({ table: 't', columns, records: made.map(toRecord) }, insertMode)
    return {
      deletes: found.deletes.map(stepOf),
      writes: found.writes.map(stepOf),
      superseded: found.superseded.map(stepOf),
    }
  }

  it.each(['upsert', 'update'] as const)(
    'has the same effect as the individual changes with insert.mode=%s',
    (insertMode) => {
      fc.assert(
        fc.property(steps, fc.subarray(['a', 'b', 'c']), (made, existing) => {
          const rows = () => new Map(existing.map((key) => [key, 'old']))
          const apply = (table: Map<string, string>, [key, word]: Step) => {
            if (word === null) table.delete(key)
            else if (insertMode === 'upsert' || table.has(key)) table.set(key, word)
            return table
          }
          const { deletes, writes, superseded } = compact(made, insertMode)
          expect(new Map([...[...deletes, ...writes].reduce(apply, rows())].sort())).toEqual(
            new Map([...made.reduce(apply, rows())].sort()),
          )
          expect(new Set(writes.map(([key]) => key)).size).toBe(writes.length)
          expect(new Set(deletes.map(([key]) => key)).size).toBe(deletes.length)
          expect(writes.length + superseded.length).toBe(made.filter(([, word]) => word !== null).length)
        }),
      )
    },
  )

  it('does not merge inserts with the same key, except those before a delete', () => {
    const made: readonly Step[] = [
      ['a', '1'],
      ['a', '2'],
    ]
    expect(compact(made, 'insert')).toEqual({ deletes: [], writes: made, superseded: [] })
    expect(compact([...made, ['a', null], ['a', '3'], ['a', '4']], 'insert')).toEqual({
      deletes: [['a', null]],
      writes: [
        ['a', '3'],
        ['a', '4'],
      ],
      superseded: made,
    })
  })
})

describe('the configuration of PostgresSink', () => {
  it.each([
    [{ 'insert.mode': 'upsert' }, 'pk.mode', 'insert.mode=upsert requires a key'],
    [{ 'delete.enabled': 'true', 'pk.mode': 'record_value' }, 'delete.enabled', 'requires pk.mode=record_key'],
    [{ 'pk.mode': 'kafka', 'pk.fields': 'a' }, 'pk.fields', 'must be empty or have three names'],
    [{ 'topics.to.tables.mapping': 'orders' }, 'topics.to.tables.mapping', "'orders' must be TOPIC:TABLE"],
  ])('rejects %j with an error for %s', (written, key, message) => {
    const config = { 'connection.url': 'jdbc:postgresql://db/shop', ...written }
    const found = validateConfig(postgresSink.config, config).find(({ name }) => name === key)
    expect(found?.errors).toEqual([expect.stringContaining(message)])
  })
})

describe('tableNaming', () => {
  const GIVEN = { 'connection.url': 'jdbc:postgresql://db/shop' }
  const tableOf = (written: Record<string, string>) =>
    tableNaming(parseConfig(postgresSink.config, { ...GIVEN, ...written }))

  it.each([
    [{}, 'shop.orders', 'shop.orders'],
    [{ 'table.name.format': 'in_${topic}' }, 'orders', 'in_orders'],
    [{ 'table.name.normalize': 'true' }, 'shop.orders-é', 'shop_orders__'],
    [{ 'topics.to.tables.mapping': 'a:public.b,c:d', 'table.name.normalize': 'true' }, 'a', 'public.b'],
  ])('with %j, for the topic %s, returns %s', (written, topic, table) => {
    expect(tableOf(written)(topic)).toBe(table)
  })

  it('throws an error for a topic without an entry in the mapping', () => {
    expect(() => tableOf({ 'topics.to.tables.mapping': 'a:b' })('c')).toThrow("has no entry for the topic 'c'")
  })

  it('accepts insert.mode=multi without a key', () => {
    const found = validateConfig(postgresSink.config, { ...GIVEN, 'insert.mode': 'multi' })
    expect(found.flatMap(({ errors }) => errors)).toEqual([])
  })
})
