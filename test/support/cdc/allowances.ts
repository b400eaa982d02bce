import type { Allowance, ChangeEvent } from './event-comparison.ts'

/** The member is null in events of changes: the JSON converter does not replace it by its default. */
const isOfSnapshot = ({ value }: ChangeEvent) =>
  (Reflect.get(Object(value), 'payload')?.source?.snapshot ?? null) !== null

const TIMES = ['ts_ms', 'ts_us', 'ts_ns']
const POSITION = ['sequence', 'txId', 'lsn']

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
  {
    path: /^value[.]payload[.](?:before|after)[.]c6_name$/,
    why: 'Debezium writes null for values of the type name',
    isNull: 'right',
  },
  {
    path: /^value[.]payload[.](?:before|after)[.]bytes$/,
    why: 'Debezium writes null instead of the placeholder for bytea columns that are written as base64',
    isNull: 'right',
    accepts: (left) => /^(?:__debezium_unavailable_value|not sent)$/.test(left),
  },
  {
    path: /^value[.]payload[.](?:before|after)[.]c\d+_time_array[.]\d+$/,
    why: 'Debezium cuts times in arrays to milliseconds',
    accepts: (left, right) => left.replace(/\d{3}Z$/, 'Z') === right,
  },
  {
    path: /^value[.]schema[.].*[.]default$/,
    why: 'Debezium ends a default value at a quote in it',
    accepts: (left, right) => left === `${right}'s`,
  },
]
