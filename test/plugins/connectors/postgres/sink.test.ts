import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoted } from '../../../../src/plugins/connectors/postgres/identifier.ts'
import { compactChanges, type RowChange } from '../../../../src/plugins/connectors/postgres/sink/row-changes.ts'
import { postgresSink, tableNaming } from '../../../../src/plugins/connectors/postgres/sink/sink.ts'
import {
  deleteSql,
  insertSql,
  updateSql,
  upsertSql,
} from '../../../../src/plugins/connectors/postgres/sink/statements.ts'
import { parseConfig, type SinkRecord, validateConfig } from '../../../../src/sdk/index.ts'

const target = {
  table: '"public"."T"',
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'word', type: 'text' },
  ],
}

describe('statements', () => {
  it('take one array of texts for each column', () => {
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

describe('changes', () => {
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
    'in one statement for each kind leave what they leave in turn: %s',
    (insertMode) => {
      fc.assert(
        fc.property(steps, fc.subarray(['a', 'b', 'c']), (made, there) => {
          const rows = () => new Map(there.map((key) => [key, 'old']))
          const apply = (table: Map<string, string>, { isDelete, cells: [key, word] }: RowChange) => {
            if (isDelete) table.delete(key!)
            else if (insertMode === 'upsert' || table.has(key!)) table.set(key!, word!)
            return table
          }
          const changes = made.map(toChange)
          const folded = compactChanges({ table: 't', columns, changes }, insertMode)
          const inTurn = changes.reduce(apply, rows())
          expect(new Map([...[...folded.deletes, ...folded.writes].reduce(apply, rows())].sort())).toEqual(
            new Map([...inTurn].sort()),
          )
          expect(new Set(folded.writes.map(({ cells: [key] }) => key)).size).toBe(folded.writes.length)
        }),
      )
    },
  )

  it('never hide an insert behind another one', () => {
    const changes = [toChange(['a', '1']), toChange(['a', '2'])]
    expect(compactChanges({ table: 't', columns, changes }, 'insert').writes).toEqual(changes)
  })
})

describe('keys', () => {
  it.each([
    [{ 'insert.mode': 'upsert' }, 'pk.mode', 'insert.mode=upsert needs a key'],
    [{ 'delete.enabled': 'true', 'pk.mode': 'record_value' }, 'delete.enabled', 'needs pk.mode=record_key'],
    [{ 'pk.mode': 'kafka', 'pk.fields': 'a' }, 'pk.fields', 'needs three names'],
    [{ 'topics.to.tables.mapping': 'orders' }, 'topics.to.tables.mapping', "'orders' should be TOPIC:TABLE"],
  ])('%j is refused at %s', (written, key, message) => {
    const config = { 'connection.url': 'jdbc:postgresql://db/shop', ...written }
    const found = validateConfig(postgresSink.config, config).find(({ name }) => name === key)
    expect(found?.errors).toEqual([expect.stringContaining(message)])
  })
})

describe('the table of a topic', () => {
  const GIVEN = { 'connection.url': 'jdbc:postgresql://db/shop' }
  const tableOf = (written: Record<string, string>) =>
    tableNaming(parseConfig(postgresSink.config, { ...GIVEN, ...written }))

  it.each([
    [{}, 'shop.orders', 'shop.orders'],
    [{ 'table.name.format': 'in_${topic}' }, 'orders', 'in_orders'],
    [{ 'table.name.normalize': 'true' }, 'shop.orders-é', 'shop_orders__'],
    [{ 'topics.to.tables.mapping': 'a:public.b,c:d', 'table.name.normalize': 'true' }, 'a', 'public.b'],
  ])('with %j is that of %s: %s', (written, topic, table) => {
    expect(tableOf(written)(topic)).toBe(table)
  })

  it('is missing where a mapping does not name the topic', () => {
    expect(() => tableOf({ 'topics.to.tables.mapping': 'a:b' })('c')).toThrow("names no table for the topic 'c'")
  })

  it('takes multi, which needs no key, for insert', () => {
    const found = validateConfig(postgresSink.config, { ...GIVEN, 'insert.mode': 'multi' })
    expect(found.flatMap(({ errors }) => errors)).toEqual([])
  })
})
