import { describe, expect, it } from 'vitest'
import { differencesOf } from '../../../../support/debezium-differences.ts'
import { readRecording, recordedEvents, replayedEvents } from '../../../../support/debezium-replay.ts'

// What Debezium 3.4.0.Final wrote, recorded by test/env/record-debezium.ts, compared with what PostgresEventWriter makes of the same rows
// and messages. The differences are listed with their reasons.

const REASONS = {
  calendar: 'snapshots of Debezium have dates before 1582 in the Julian calendar; its stream has not',
  precision: 'Debezium converts money through a double in snapshots, and loses microseconds in arrays of times',
  lost: 'Debezium has null instead of the value',
  array: 'Debezium has no representation of arrays of this type',
  dimensions: 'Debezium does not represent arrays of several dimensions',
  scale: 'Debezium writes two thousand zeros for a negative scale',
  range: 'infinite times are beyond the range of `Date`, which ends in the year 275760',
  unsent: 'Debezium has null for a value that the server did not send, which cannot be told from NULL',
  expression: 'Debezium cuts the literal of a default at a quote, or takes the first literal of an expression',
  infinity: 'Debezium’s default of an infinite date is another number than its value',
  size: 'snapshots of Debezium have another size of numeric than its stream',
  encoding: 'Debezium does not decode names that are not ASCII in the stream',
  identity: 'Debezium writes deletes of the key 0 if the replica identity is an index without the primary key',
  counter: 'Debezium counts logical messages under the address of a Java object',
  unmasked: 'Debezium does not mask columns of citext, although it says so in their schema',
  excluded: 'Debezium has no excluded columns in keys of its snapshot, and null in old keys',
} as const
type Differences = Readonly<Record<string, keyof typeof REASONS>>

/** The same reason for each of these columns, or parts of the events of a table. */
function all(reason: keyof typeof REASONS, places: string): Differences {
  return Object.fromEntries(places.split(' ').map((place) => [place, reason]))
}

const TYPES: Differences = {
  ...all('calendar', 'c_date c_date_array c_timestamp c_timestamptz'),
  ...all('precision', 'c_timetz_array'),
  ...all('lost', 'c_varbit_1 c_ltree_array'),
  ...all('array', 'c_bit_4_array c_money_array c_xml_array c_interval_array c_point_array'),
  ...all('array', 'c_positive_array c_price_array c_label_array'),
  ...all('dimensions', 'c_int4_array c_text_array'),
}
/** Without those that have no representation as required. */
const REQUIRED: Differences = {
  ...all('calendar', 'c_date_array'),
  ...all('precision', 'c_timetz_array'),
  ...all('array', 'c_money_array c_xml_array c_interval_array c_point_array c_price_array c_label_array'),
}
const MICROSECONDS = all('precision', 'c_time_array')
const DEFAULTS: Differences = {
  ...all('expression', 'd28 d29 d38 d87 d112 d125'),
  ...all('infinity', 'd49 d61'),
  ...all('lost', 'd34 d128'),
}
const INDEX_IDENTITY = 'index_identity.key index_identity.keySchema index_identity.headers'
const ODD_TABLE = 'topic key keySchema schema source'.replaceAll(/\w+/g, 'Tab_le.__1.$&')
const TOAST = 't22 t27 t32 t38 t39 t40 t41 t42 t43 t44 t46 t47'

const DIFFERENCES: Readonly<Record<string, Differences>> = {
  'types-default': { ...TYPES, ...MICROSECONDS, ...all('precision', 'c_money'), ...all('lost', 'c_name') },
  'types-connect': { ...TYPES, ...all('range', 'c_date c_timestamp') },
  'types-isostring': {
    ...TYPES,
    ...MICROSECONDS,
    ...all('precision', 'c_money'),
    ...all('scale', 'c_numeric_5_minus_2'),
  },
  'types-microseconds': {
    ...{ ...TYPES, ...MICROSECONDS, ...all('precision', 'c_money') },
    ...{ ...all('lost', 'c_name'), ...all('size', 'c_numeric') },
  },
  'types-nanoseconds': { ...TYPES, ...MICROSECONDS, ...all('precision', 'c_money'), ...all('size', 'c_numeric') },
  'types-adaptive_microseconds': {
    ...{ ...TYPES, ...MICROSECONDS, ...all('precision', 'c_money'), ...all('lost', 'c_name') },
  },
  'defaults-default': DEFAULTS,
  'defaults-connect': DEFAULTS,
  'defaults-isostring': { ...DEFAULTS, ...all('precision', 'd24 d25') },
  'toast-default': { ...all('unsent', `${TOAST} t45`) },
  'toast-modes': all('unsent', `${TOAST} t6 t18 t19 t30 t31 t34 t37`),
  'events-default': {
    ...all('identity', INDEX_IDENTITY),
    ...{ ...all('encoding', ODD_TABLE), 'i-d': 'encoding', 'col umn.ü': 'encoding', 'col umn.ￃﾼ': 'encoding' },
  },
  'events-metadata': {
    ...all('identity', INDEX_IDENTITY),
    ...all('encoding', `${ODD_TABLE} i_d col_umn__ col_umn___`),
    ...all('counter', 'my-prefix_transaction.data_collections'),
  },
  'events-skipped': { ...all('identity', INDEX_IDENTITY), ...all('counter', 'p.tx.data_collections') },
  'required-default': { ...REQUIRED, ...MICROSECONDS },
  'required-connect': REQUIRED,
  'required-isostring': { ...REQUIRED, ...MICROSECONDS, ...all('scale', 'c_numeric_5_minus_2') },
  'rules-mask': {},
  'rules-include': {},
  'numbers-precise': all('lost', 'list'),
  'numbers-double': all('lost', 'list'),
  'numbers-string': all('lost', 'list'),
  'masks-default': { ...all('lost', 'm7'), ...all('unmasked', 'm8'), ...all('size', 'm31') },
  'masks-texts': {
    ...{ ...all('lost', 'm7'), ...all('unmasked', 'm8') },
    ...{ ...all('size', 'm31'), ...all('precision', 'm33') },
  },
  'rules-keys': all('excluded', 'secrets.key secrets.keySchema secrets.headers'),
  'naming-unicode': all('counter', 'p.transaction.data_collections'),
  'naming-default': all('counter', 'p.transaction.data_collections'),
  'naming-regex': all('counter', 'p.transaction.data_collections'),
  'naming-regex-field': all('counter', 'p.transaction.data_collections'),
  'messages-hex': { ...all('counter', 'p.transaction.data_collections'), ...all('size', 'free') },
  'messages-base64-url-safe': { ...all('counter', 'p.transaction.data_collections'), ...all('size', 'free') },
}

describe('events', { tags: ['slow'] }, () => {
  it.each(Object.keys(DIFFERENCES))(
    'of the recording %s equal those of Debezium but for the listed differences',
    async (name) => {
      const recording = readRecording(name)
      const differences = differencesOf(recordedEvents(recording), await replayedEvents(recording))
      expect(differences.toSorted()).toEqual(Object.keys(DIFFERENCES[name]!).toSorted())
    },
  )
})
