import { field } from '../../../../../sdk/index.ts'
import { BINARY_MODES, DECIMAL_MODES, TIME_MODES } from '../../../cdc/values/value-modes.ts'
import type { ValueSettings } from '../values/value-settings.ts'
import { HSTORE_MODES, INTERVAL_MODES } from '../values/value-settings.ts'

const group = 'Values'

/** How values of columns are represented, as with Debezium. */
export const valueKeys = {
  'decimal.handling.mode': field
    .oneOf(DECIMAL_MODES, {
      doc: '`numeric` and `money`: precise (decimals, a struct with the scale for `numeric` without one), double or string.',
      group,
    })
    .default('precise'),
  'time.precision.mode': field
    .oneOf(TIME_MODES, {
      doc:
        '`date`, `time` and `timestamp`: adaptive (milliseconds or microseconds, by the precision of the column), ' +
        'adaptive_time_microseconds (the same, but `time` always has microseconds), connect (Kafka Connect’s types, milliseconds), ' +
        'isostring (text in ISO 8601), microseconds or nanoseconds.',
      group,
    })
    .default('adaptive'),
  'interval.handling.mode': field
    .oneOf(INTERVAL_MODES, {
      doc: '`interval`: numeric (microseconds, a month has 30.4375 days) or string (ISO 8601).',
      importance: 'LOW',
      group,
    })
    .default('numeric'),
  'hstore.handling.mode': field
    .oneOf(HSTORE_MODES, { doc: '`hstore`: json (text) or map.', importance: 'LOW', group })
    .default('json'),
  'binary.handling.mode': field
    .oneOf(BINARY_MODES, { doc: '`bytea`: bytes, or text in this encoding.', importance: 'LOW', group })
    .default('bytes'),
  'money.fraction.digits': field
    .short({ doc: 'Number of fractional digits of `money` as a decimal.', importance: 'LOW', min: 0, max: 30, group })
    .default(2),
  'include.unknown.datatypes': field
    .boolean({
      doc: 'Whether columns of types without a representation of their own are included, as the bytes of their text.',
      group,
    })
    .default(false),
}

type ValueConfig = {
  readonly 'decimal.handling.mode': ValueSettings['decimals']
  readonly 'time.precision.mode': ValueSettings['times']
  readonly 'interval.handling.mode': ValueSettings['intervals']
  readonly 'hstore.handling.mode': ValueSettings['hstores']
  readonly 'binary.handling.mode': ValueSettings['binary']
  readonly 'money.fraction.digits': number
  readonly 'include.unknown.datatypes': boolean
}

export function valueSettings(config: ValueConfig): ValueSettings {
  return {
    decimals: config['decimal.handling.mode'],
    times: config['time.precision.mode'],
    intervals: config['interval.handling.mode'],
    hstores: config['hstore.handling.mode'],
    binary: config['binary.handling.mode'],
    moneyDigits: config['money.fraction.digits'],
    includesUnknown: config['include.unknown.datatypes'],
  }
}
