import { javaHashCode } from '../../../java-compat/java-hash-code.ts'
import { defineTransform, field, type Schema, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { fieldOf, type Members, memberOf } from '../struct-access.ts'
import { type DebeziumChange, toDebeziumChange } from './envelope.ts'
import { murmurHash } from './murmur-hash.ts'

const FIELDS = 'partition.payload.fields'
const INT32_MAX = 0x7fffffff

export const partitionRouting = defineTransform({
  class: 'PartitionRouting',
  aliases: ['io.debezium.transforms.partitions.PartitionRouting'],
  version: SHIPPED_VERSION,
  summary: 'Sends change events to the partition that fields of the event determine.',
  notes: `
Fields that an event does not have are left out; an event that has none of them, a truncation, a message and everything that is not a change
event keep their partition. Structs, lists and maps cannot be hashed and are an error of the record.
`,
  config: z.object({
    [FIELDS]: field.parsed(
      field.list({
        doc: 'Fields of the event, such as after.name, source.table, or change.name: the state after the change, or before a delete.',
        importance: 'HIGH',
      }),
      (paths) => {
        if (paths.length > 0) return paths.map((path) => path.split('.').map((name) => name.trim()))
        throw new Error(`Invalid value for configuration ${FIELDS}: at least one field is needed`)
      },
    ),
    'partition.topic.num': field.int({ doc: 'Number of partitions of the topic.', importance: 'HIGH', min: 1 }),
    'partition.hash.function': field
      .oneOf(['java', 'murmur'], { doc: 'How fields are hashed. The hashes are those of Debezium.', importance: 'LOW' })
      .default('java'),
  }),
  create({ [FIELDS]: paths, 'partition.topic.num': partitions, 'partition.hash.function': hashFunction }) {
    const hash = hashFunction === 'java' ? javaHashCode : murmurOf
    return (record) => {
      const change = toDebeziumChange(record)
      if (change === undefined) return record
      const operation = operationOf(change)
      if (operation === 't' || operation === 'm') return record
      const hashes = paths.flatMap((path) => {
        const found = valueAt(change, path, operation)
        return found === undefined ? [] : [hash(found.value, found.schema)]
      })
      if (hashes.length === 0) return record
      const sum = hashes.reduce((total, one) => (total + one) | 0, 0) & INT32_MAX
      return { ...record, partition: sum === INT32_MAX ? 0 : sum % partitions }
    }
  },
})

function operationOf({ schema, envelope }: DebeziumChange): unknown {
  const op = fieldOf(schema, 'op')
  return op === undefined ? undefined : memberOf(envelope, op)
}

/** Undefined if there is no such field, or no value. */
function valueAt(
  { schema, envelope }: DebeziumChange,
  path: readonly string[],
  operation: unknown,
): { readonly schema: Schema; readonly value: unknown } | undefined {
  let found: { schema: Schema; value: unknown } = { schema, value: envelope }
  for (const [at, written] of path.entries()) {
    if (found.schema.type !== 'struct') return undefined
    const isChange = written === 'change' && at < path.length - 1
    const one = fieldOf(found.schema, isChange ? (operation === 'd' ? 'before' : 'after') : written)
    if (one === undefined) return undefined
    const value = memberOf(found.value as Members, one)
    if (value === null) return undefined
    found = { schema: one.schema, value }
  }
  return found
}

function murmurOf(value: unknown, schema: Schema): number {
  if (typeof value === 'string') return murmurHash(Buffer.from(value))
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(javaHashCode(value, schema))
  return murmurHash(bytes)
}
