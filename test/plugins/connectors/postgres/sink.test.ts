import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoted } from '../../../../src/plugins/connectors/postgres/identifier.ts'
import { postgresSink, tableNaming } from '../../../../src/plugins/connectors/postgres/sink/postgres-sink.ts'
import { compactChanges, type RowChange } from '../../../../src/plugins/connectors/postgres/sink/row-changes.ts'
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
    expect(updateSql(target, 2, quoted)).toBeUndefined()
    expect(deleteSql(target, 1, quoted)).toBe(
      'DELETE FROM "public"."T" AS t USING unnest($1::text[]) AS r (c0) WHERE t."id" = r.c0::integer',
    )
  })
})

describe('compactChanges', () => {
  const columns = ['id', 'word'].map((name) => ({
    name,
    isKey: name === 'id',
    type: 'text',
    fallback: undefined,
    notNull: false,
    textOf: () => null,
  }))
  const toChange = ([key, word]: readonly [string, string | null]): RowChange => ({
    record: {} as SinkRecord,
    isDelete: word === null,
    cells: word === null ? [key] : [key, word],
  })
  const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.option(fc.constantFrom('1', '2', '3'))))

  it.each(['upsert', 'update'] as const)(
    'has the same effect as the individual changes with insert.mode=%s',
    (insertMode) => {
      fc.assert(
        fc.property(steps, fc.subarray(['a', 'b', 'c']), (made, existing) => {
          const rows = () => new Map(existing.map((key) => [key, 'old']))
          const apply = (table: Map<string, string>, { isDelete, cells: [key, word] }: RowChange) => {
            if (isDelete) table.delete(key!)
            else if (insertMode === 'upsert' || table.has(key!)) table.set(key!, word!)
            return table
          }
          const changes = made.map(toChange)
          const compacted = compactChanges({ table: 't', columns, changes }, insertMode)
          const sequential = changes.reduce(apply, rows())
          expect(new Map([...[...compacted.deletes, ...compacted.writes].reduce(apply, rows())].sort())).toEqual(
            new Map([...sequential].sort()),
          )
          expect(new Set(compacted.writes.map(({ cells: [key] }) => key)).size).toBe(compacted.writes.length)
        }),
      )
    },
  )

  it('does not merge inserts with the same key', () => {
    const changes = [toChange(['a', '1']), toChange(['a', '2'])]
    expect(compactChanges({ table: 't', columns, changes }, 'insert').writes).toEqual(changes)
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
