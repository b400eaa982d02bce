import { DataError, defineTransform, field, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'

const BEHAVIORS = ['drop_silent', 'drop_warn', 'ignore', 'fail'] as const

/** Confluent's TombstoneHandler; Aiven's has the same keys, but no default. */
export const tombstoneHandlers = [
  handler('TombstoneHandler', 'io.confluent.connect.transforms.TombstoneHandler', (key) => key.default('drop_warn')),
  handler('AivenTombstoneHandler', 'io.aiven.kafka.connect.transforms.TombstoneHandler', (key) => key),
]

function behaviorKey() {
  return field.oneOf(BEHAVIORS, {
    doc: 'Whether tombstones are dropped, kept (ignore), or an error (fail). drop_warn is the same as drop_silent.',
    importance: 'HIGH',
  })
}

type Key = ReturnType<typeof behaviorKey> | ReturnType<ReturnType<typeof behaviorKey>['default']>

function handler(name: string, original: string, withDefault: (key: ReturnType<typeof behaviorKey>) => Key) {
  return defineTransform({
    class: name,
    aliases: [original],
    version: SHIPPED_VERSION,
    summary: 'Handles tombstones, that is, records with a null value.',
    config: z.object({ behavior: withDefault(behaviorKey()) }),
    create({ behavior }) {
      return (record) => {
        if ((record.value !== null && record.value !== undefined) || behavior === 'ignore') return record
        if (behavior === 'fail') throw new DataError('the record is a tombstone, and behavior is fail')
        return null
      }
    },
  })
}
