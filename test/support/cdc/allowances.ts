import { bigintFromBytes } from '../../../src/sdk/index.ts'
import type { Allowance, ChangeEvent, ExtraEvents } from './event-comparison.ts'

const sourceOf = ({ value }: ChangeEvent): Readonly<Record<string, unknown>> | undefined =>
  Reflect.get(Object(value), 'payload')?.source
const operationOf = ({ value }: ChangeEvent): unknown => Reflect.get(Object(value), 'payload')?.op
/** The member is null in events of changes: the JSON converter does not replace it by its default. */
const isOfSnapshot = (event: ChangeEvent) => (sourceOf(event)?.['snapshot'] ?? null) !== null
const isOfStream = (event: ChangeEvent) => !isOfSnapshot(event)
const isOfTable = (table: string) => (event: ChangeEvent) => sourceOf(event)?.['table'] === table

/** The value of a column. With `field.name.adjustment.mode=avro_unicode`, the name has `_u005f` for `_`. */
const column = (name: string) =>
  new RegExp(`^value[.]payload[.](?:before|after)[.](?:${name.replaceAll('_', '_(?:u005f)?')})$`)
const sourceParameter = (name: string) =>
  new RegExp(`^value[.]schema[.]fields[.][01][.]fields[.]\\d+[.]parameters${name}$`)

const TIMES = ['ts_ms', 'ts_us', 'ts_ns']
const POSITION = ['sequence', 'txId', 'lsn']
/** What an infinite date is in events of Weir: in days, as a text and as the maximum of JavaScript. */
const INFINITE_DATES = new Set(['-2147472692', '-2147472691', '-5877611-06-21Z', '-5877611-06-22Z'])
const LARGEST_DATES = new Set(['100000000', '-100000000', '8640000000000000', '-8640000000000000'])

/** How the events of Weir (left) may differ from those of Debezium (right). */
export const ALLOWANCES: readonly Allowance[] = [
  ...TIMES.map((name) => ({
    path: `value.payload.${name}`,
    why: 'the time at which the connector handled the event',
  })),
  ...TIMES.map((name) => ({
    path: `value.payload.source.${name}`,
    why: 'the time of the snapshot',
    appliesTo: isOfSnapshot,
  })),
  ...POSITION.map((name) => ({
    path: `value.payload.source.${name}`,
    why: 'the position of the slot, which differs',
    appliesTo: isOfSnapshot,
  })),
  { path: 'value.payload.source.version', why: 'the version of the connector' },
  { path: 'headers.__debezium.context.runId.payload', why: 'a random ID of the task' },
  { path: column('c6_name'), why: 'Debezium writes null for values of the type name', isNull: 'right' },
  {
    path: column('bytes'),
    why: 'Debezium writes null instead of the placeholder for bytea columns that are written as base64',
    isNull: 'right',
    accepts: (left) => /^(?:__debezium_unavailable_value|not sent)$/.test(left),
  },
  {
    path: /^value[.]payload[.](?:before|after)[.]c\d+_time_array[.]\d+$/,
    why: 'Debezium cuts times in arrays to milliseconds',
    accepts: isCutToMilliseconds,
  },
  {
    path: column('c7_citext'),
    why: 'Debezium does not hash the text of citext columns',
    accepts: (left) => /^[0-9a-f]{32}$/.test(left),
  },
  {
    path: /^value[.]schema[.].*[.]default$/,
    why: 'Debezium ends a default value at a quote in it',
    accepts: (left, right) => left === `${right}'s`,
  },
  {
    path: column('c0_date|c1_timestamp|c2_timestamptz|c5_timestamp'),
    why: 'snapshots of Debezium have dates before 1582 in the Julian calendar, unlike its stream',
    appliesTo: isOfSnapshot,
    accepts: isOtherCalendar,
  },
  {
    path: column('c0_date'),
    why: 'an infinite date in snapshots of Debezium is another number than in its stream',
    appliesTo: (event) => isOfSnapshot(event) && isOfTable('infinities')(event),
    accepts: (left) => INFINITE_DATES.has(left),
  },
  {
    path: column('c0_date'),
    why: 'snapshots of Debezium have the year 44 instead of 44 BC, unlike its stream',
    appliesTo: (event) => isOfSnapshot(event) && isOfTable('infinities')(event),
    accepts: (left, right) => ['-735160 -703383', '-0043-03-15Z 0044-03-15Z'].includes(`${left} ${right}`),
  },
  {
    path: column('c0_date|c1_timestamp'),
    why: 'with time.precision.mode=connect, an infinite time is the first or last one that JavaScript can represent',
    appliesTo: isOfTable('infinities'),
    accepts: (left) => LARGEST_DATES.has(left),
  },
  {
    path: column('c5_money|cash'),
    why: 'snapshots of Debezium convert money through a double',
    appliesTo: isOfSnapshot,
    accepts: (left, right) => numberOf(left) === numberOf(right),
  },
  {
    path: sourceParameter('[.]__debezium[.]source[.]column[.]type'),
    why: 'snapshots of Debezium call an integer with a sequence SERIAL, unlike its stream',
    appliesTo: isOfSnapshot,
    accepts: (left, right) => left === 'INT4' && right === 'SERIAL',
  },
  {
    path: sourceParameter('[.]__debezium[.]source[.]column[.]length'),
    why: 'the stream of Debezium has a length of numeric without a precision, unlike its snapshots',
    appliesTo: isOfStream,
    accepts: (left, right) => left === '0' && right === '131089',
  },
  {
    path: sourceParameter(' [(]members[)]'),
    why: 'the stream of Debezium has a scale of numeric without a precision, unlike its snapshots',
    appliesTo: isOfStream,
    accepts: (left, right) => left === right.replace('__debezium.source.column.scale,', ''),
  },
  {
    path: 'value.payload.transaction.data_collection_order',
    why: 'Debezium counts each logical message of a transaction as the first of a collection of its own',
    appliesTo: (event) => operationOf(event) === 'm',
    accepts: (_, right) => right === '1',
  },
  {
    path: 'key.payload.note',
    why: 'a column that is excluded and part of message.key.columns is null in keys of Debezium’s snapshots',
    appliesTo: (event) => isOfSnapshot(event) && isOfTable('accounts')(event),
    isNull: 'right',
  },
  {
    path: 'value.payload.source.snapshot',
    why: 'the last row of a table that Debezium’s snapshot reads with the rows of the tables that inherit from it',
    appliesTo: (event) => isOfSnapshot(event) && isOfTable('parents')(event),
    accepts: (left, right) => left === 'last_in_data_collection' && right === 'first_in_data_collection',
  },
]

/** A day in nanoseconds, in microseconds, in milliseconds and in days. */
const DAYS = [86_400_000_000_000n, 86_400_000_000n, 86_400_000n, 1n]

const isViaRoot = (config: Readonly<Record<string, string>>) => config['publish.via.partition.root'] === 'true'

/** Events that only Debezium writes. */
export const EXTRA_EVENTS: readonly ExtraEvents[] = [
  {
    why: 'Debezium’s snapshot also writes the rows of partitions to the topic of their root, which then has no changes',
    appliesTo: (config) => !isViaRoot(config),
    topic: /^.public.measures$/,
    isExtra: isOfSnapshot,
  },
  {
    why: 'Debezium’s snapshot also writes the rows of a root to the topics of its partitions, which then have no changes',
    appliesTo: isViaRoot,
    topic: /^.public.measures_(?:early|late)$/,
    isExtra: isOfSnapshot,
  },
  {
    why: 'Debezium’s snapshot also writes the rows of a table to the topic of the table that it inherits from',
    appliesTo: () => true,
    topic: /^.public.parents$/,
    isExtra: (event) => isOfSnapshot(event) && keyOf(event) === 2,
  },
  {
    why: 'Debezium writes the changes of a table under its former name when its new name is not captured',
    appliesTo: (config) => config['table.include.list']?.includes('evolving') === true,
    topic: /^.public.evolving$/,
    // After it is renamed, two rows are inserted and the oldest two are deleted.
    isExtra: (event) => (operationOf(event) === 'c' ? keyOf(event) >= 31 : [19, 20].includes(keyOf(event))),
  },
]

function keyOf(event: ChangeEvent): number {
  return Number(Reflect.get(Object(event.key), 'payload')?.id)
}

/** Times of the left side have microseconds: as text in ISO 8601, or as a number of microseconds or nanoseconds. */
function isCutToMilliseconds(left: string, right: string): boolean {
  const cut = [left.replace(/\d{3}Z$/, 'Z'), left.replace(/\d{3}$/, '000'), left.replace(/\d{3}000$/, '000000')]
  return cut.includes(right)
}

/** Whether two times differ by the days between the Julian and the Gregorian calendar: 2 before their time, up to 10 after it. */
function isOtherCalendar(left: string, right: string): boolean {
  const days = daysBetween(left, right)
  return Number.isInteger(days) && days !== 0 && days >= -10 && days <= 2
}

function daysBetween(left: string, right: string): number {
  if (left.endsWith('Z')) return (utc(left) - utc(right)) / 86_400_000
  const difference = BigInt(left) - BigInt(right)
  const unit = DAYS.find((day) => difference % day === 0n)
  return unit === undefined ? Number.NaN : Number(difference / unit)
}

/** The days of a time in ISO 8601, in milliseconds; years may be negative. */
function utc(text: string): number {
  const [, year, month, day] = /^(-?\d+)-(\d\d)-(\d\d)/.exec(text) ?? []
  return new Date(0).setUTCFullYear(Number(year), Number(month) - 1, Number(day))
}

/** The number of a decimal in text, or in the base64 of its digits, as far as a double represents it. */
function numberOf(text: string): number {
  return text.includes('.') ? Number(text) : Number(bigintFromBytes(Buffer.from(text, 'base64')))
}
