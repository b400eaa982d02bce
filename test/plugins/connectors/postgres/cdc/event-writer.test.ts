import { describe, expect, it } from 'vitest'
import { eventSettings } from '../../../../../src/plugins/connectors/cdc/config/event-keys.ts'
import type { Row } from '../../../../../src/plugins/connectors/cdc/table.ts'
import type { DatabaseChange, Table } from '../../../../../src/plugins/connectors/postgres/cdc/changes/change.ts'
import { cdcConfig } from '../../../../../src/plugins/connectors/postgres/cdc/config/cdc-config.ts'
import { valueSettings } from '../../../../../src/plugins/connectors/postgres/cdc/config/value-keys.ts'
import { PostgresEventWriter } from '../../../../../src/plugins/connectors/postgres/cdc/events/postgres-event-writer.ts'
import { ColumnTypes } from '../../../../../src/plugins/connectors/postgres/cdc/values/column-types.ts'
import { TypeCatalog } from '../../../../../src/plugins/connectors/postgres/cdc/values/type-catalog.ts'
import { parseConfig } from '../../../../../src/sdk/index.ts'

const [INT4, TEXT] = [23, 25]
const TYPES = [
  [String(INT4), 'int4', 'b', null, '0', '-1', null],
  [String(TEXT), 'text', 'b', null, '0', '-1', null],
]
const column = (name: string, typeId: number, isKey: boolean) => ({
  ...{ name, typeId, modifier: -1, isKey, isOptional: !isKey, defaultExpression: undefined },
})
const TABLE: Table = {
  ...{ id: 1, schema: 'public', name: 'notes', replicaIdentity: 'default', keyNames: ['id'] },
  columns: [column('id', INT4, true), column('note', TEXT, false)],
}
const TRANSACTION = { id: 7, commitLsn: 90n, committedAtUs: 0n }
const NOW_US = 1_795_000_000_000_000n
const OFFSET = { sourcePartition: {}, sourceOffset: {} }

function writerOf(config: Readonly<Record<string, string>> = {}, lastCommitUs?: bigint): PostgresEventWriter {
  const parsed = parseConfig(cdcConfig, {
    ...{ 'database.hostname': 'localhost', 'database.user': 'u', 'database.dbname': 'd', 'topic.prefix': 'p' },
    ...config,
  })
  return new PostgresEventWriter({
    settings: eventSettings(parsed),
    types: new ColumnTypes(new TypeCatalog(TYPES), valueSettings(parsed)),
    ...{ version: '1', database: 'd', taskId: '0', runId: 'r', nowUs: () => NOW_US, lastCommitLsn: undefined },
    lastCommitUs,
  })
}

const update = (before: Row | undefined, after: Row): DatabaseChange => ({
  ...{ kind: 'row', op: 'u', table: TABLE, before, isBeforeKeyOnly: before !== undefined, after },
  ...{ transaction: TRANSACTION, lsn: 80n, position: { commitLsn: 90n, index: 0 } },
})
const operations = (writer: PostgresEventWriter, change: DatabaseChange) =>
  writer.write(change, OFFSET).map(({ key, value }) => [key, Reflect.get(Object(value), 'op')])

describe('PostgresEventWriter', () => {
  it('writes the position of a message that is not captured into later events', () => {
    const writer = writerOf()
    const message = {
      kind: 'message',
      prefix: 'p',
      content: Buffer.of(),
      position: { commitLsn: 70n, index: 0 },
    } as const
    writer.ignore({ ...message, transaction: TRANSACTION, lsn: 60n })
    writer.ignore({ ...message, transaction: undefined, lsn: 70n })
    const [event] = writer.write(update(undefined, ['1', 'a']), OFFSET)
    expect(event).toMatchObject({ value: { source: { sequence: '["70","80"]' } } })
  })

  it('writes the time of the last commit into a message outside of transactions, also after a restart', () => {
    const position = { commitLsn: 70n, index: -1 }
    const origin = { transaction: undefined, lsn: 70n, position } as const
    const message = { kind: 'message', prefix: 'p', content: Buffer.of(), ...origin } as const
    const timeOf = (writer: PostgresEventWriter) => writer.write(message, OFFSET)[0]?.value
    expect(timeOf(writerOf({}, 1_794_000_000_123_456n))).toMatchObject({ source: { ts_us: 1_794_000_000_123_456 } })
    expect(timeOf(writerOf())).toMatchObject({ source: { ts_us: Number(NOW_US) } })
  })

  it('writes no event with a part of a key', () => {
    const unknown = { ...update(undefined, ['1', 'a']), table: { ...TABLE, keyNames: [], unknownKeyName: 'no' } }
    expect(() => writerOf().write(unknown as DatabaseChange, OFFSET)).toThrow(
      'the key of public.notes is not known: its column no was added or renamed since or is not published, and the stream has the ' +
        'columns id, note. Set message.key.columns=public.notes:COLUMN,COLUMN to',
    )
    const configured = writerOf({ 'message.key.columns': 'public.notes:id,note' })
    expect(configured.write(unknown as DatabaseChange, OFFSET)[0]?.key).toEqual({ id: 1, note: 'a' })
    const missing = writerOf({ 'message.key.columns': 'public.notes:id,text' })
    expect(() => missing.write(update(undefined, ['1', 'a']), OFFSET)).toThrow(
      'message.key.columns has the column text of public.notes, which has the columns id, note at this position of the stream',
    )
    const columns = [column('id', INT4, true), column('area', 4_294_967, true)]
    const odd = { ...update(undefined, ['1', 'a']), table: { ...TABLE, columns, keyNames: ['id', 'area'] } }
    expect(() => writerOf().write(odd as DatabaseChange, OFFSET)).toThrow('cannot contain its column area')
  })

  it('writes a changed key of message.key.columns as a delete and a create if the server sends a part of the old one', () => {
    const writer = writerOf({ 'message.key.columns': 'public.notes:id,note' })
    expect(operations(writer, update(['1', null], ['2', 'a']))).toEqual([
      [{ id: 1, note: null }, 'd'],
      [{ id: 1, note: null }, undefined],
      [{ id: 2, note: 'a' }, 'c'],
    ])
  })

  it('writes a key of the table only if topics are routed and the table has no key, as Debezium does', () => {
    const writer = writerOf({
      'topic.naming.strategy': 'io.debezium.schema.SchemaRegexTopicNamingStrategy',
      ...{ 'topic.regex': '(.*)notes', 'topic.replacement': '$1all' },
    })
    const change = { ...update(undefined, ['1', 'a']), table: { ...TABLE, keyNames: [] } } as DatabaseChange
    const [record] = writer.write(change, OFFSET)
    expect([record?.topic, record?.key]).toEqual(['p.public.all', { __dbz__physicalTableIdentifier: 'p.public.notes' }])
  })

  it('writes no delete of a key of message.key.columns of which the server sends nothing', () => {
    const writer = writerOf({ 'message.key.columns': 'public.notes:note' })
    expect(operations(writer, update(['1', null], ['2', 'a']))).toEqual([[{ note: 'a' }, 'u']])
  })

  it('writes the create of a changed key if updates and deletes are skipped', () => {
    const writer = writerOf({ 'skipped.operations': 'u,d' })
    expect(operations(writer, update(['1', null], ['2', 'a']))).toEqual([[{ id: 2 }, 'c']])
    expect(operations(writer, update(undefined, ['2', 'b']))).toEqual([])
  })
})
