import type { Allowance, ChangeEvent } from './cdc/event-comparison.ts'

const sourceOf = ({ value }: ChangeEvent): Readonly<Record<string, unknown>> | undefined =>
  Reflect.get(Object(value), 'payload')?.source
const isOfSnapshot = (event: ChangeEvent) =>
  !['false', null, undefined].includes(sourceOf(event)?.['snapshot'] as string)
const column = (name: string) => new RegExp(`^value[.]payload[.](?:before|after)[.]${name}$`)

/** How the events of Weir (left) may differ from those of Debezium (right). */
export const MYSQL_ALLOWANCES: readonly Allowance[] = [
  { path: /^value[.]payload[.]ts_(?:ms|us|ns)$/, why: 'the time at which the connector handled the event' },
  { path: 'value.payload.source.version', why: 'the version of the connector' },
  { path: 'headers.__debezium.context.runId.payload', why: 'a random ID of the task' },
  {
    path: /^value[.]payload[.]source[.](?:ts_ms|ts_us|ts_ns|pos)$/,
    why: 'the time and the position of the snapshot',
    appliesTo: isOfSnapshot,
  },
  {
    path: 'value.payload.source.gtid',
    why: 'the transaction before a chunk of an incremental snapshot, which other tests of this server may have made',
    appliesTo: isOfSnapshot,
    accepts: (left, right) => /^0-1-\d+$/.test(left) && /^0-1-\d+$/.test(right),
  },
  {
    path: /^value[.]schema[.]fields[.][01][.]fields[.]\d+[.]default$/,
    why: 'Debezium does not replace a doubled quote in the default of a text',
    accepts: (left, right) => right === left.replaceAll("'", "''"),
  },
  {
    path: column('ts\\d'),
    why: 'existing rows of Debezium lack the zeros at the end of a fraction, which its changes have',
    appliesTo: isOfSnapshot,
    accepts: (left, right) => left.replace(/[.]?0*Z$/, 'Z') === right,
  },
  {
    path: 'value.payload.source.table',
    why: 'Debezium has the tables of a statement in the order of their hashes',
    accepts: (left, right) => left.split(',').sort().join() === right.split(',').sort().join(),
  },
  {
    path: 'value.payload.tableChanges (members)',
    why: 'Debezium has no structure of a table that the same statement renames again',
    accepts: (left, right) => left === '0' && right === '',
  },
  {
    path: /^value[.]payload[.]tableChanges[.]0[.]table[.](?:defaultCharsetName|columns[.]\d+[.]charsetName)$/,
    why: 'Debezium does not change the character set of a table with CONVERT TO CHARACTER SET',
    accepts: (left, right) => left === 'latin1' && right === 'utf8mb4',
  },
  {
    path: column('t'),
    why: 'Debezium does not change the character set of columns with CONVERT TO CHARACTER SET',
    accepts: (_, right) => right === '\ufffd',
  },
  {
    path: column('ts'),
    why: 'changes of Debezium have the epoch for a zero TIMESTAMP, which is null in its existing rows',
    isNull: 'left',
    accepts: (_, right) => right === '1970-01-01T00:00:00Z',
  },
  {
    path: column('e'),
    why: 'changes of Debezium have a backslash before a comma in a value of an ENUM, which its existing rows do not have',
    accepts: (left, right) => left.replaceAll(',', '\\,') === right,
  },
]

/**
 * Leaves out of the transaction topic what the two connectors cannot have in common. For a statement outside of a transaction, Debezium
 * writes a BEGIN without an END. Other tests use other databases of this server: each connector sees the transactions that are made there while it runs.
 */
export function withRowsOnly(topic: string, events: readonly ChangeEvent[]): readonly ChangeEvent[] {
  if (topic !== '.transaction') return events
  const payloadOf = ({ value }: ChangeEvent) =>
    Reflect.get(Object(value), 'payload') as Readonly<Record<string, unknown>>
  const ids = new Set(
    events.flatMap((event) => (Number(payloadOf(event)['event_count'] ?? 0) > 0 ? [payloadOf(event)['id']] : [])),
  )
  return events.filter((event) => ids.has(payloadOf(event)['id']))
}
