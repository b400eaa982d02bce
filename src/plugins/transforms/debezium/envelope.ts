import { type ConnectRecord, DataError, type Schema, type SchemaType } from '../../../sdk/index.ts'
import { fieldOf, type Members, memberOf } from '../struct-access.ts'

/** A change event of a Debezium connector: `{before, after, source, op, ts_ms, …}`. */
export type DebeziumChange = { readonly schema: Schema; readonly envelope: Members }

/** Returns undefined for records that are not change events: heartbeats, schema changes and tombstones. */
export function toDebeziumChange({ valueSchema, value }: ConnectRecord): DebeziumChange | undefined {
  if (valueSchema?.name === undefined || value === null || value === undefined) return undefined
  return valueSchema.name.endsWith('.Envelope') ? { schema: valueSchema, envelope: value as Members } : undefined
}

/** Returns the row before or after the change; its value is null if the row did not exist. */
export function rowOf({ schema, envelope }: DebeziumChange, moment: 'before' | 'after') {
  const row = fieldOf(schema, moment)
  if (row === undefined) throw new DataError(`Unknown field: ${moment}`)
  return { schema: row.schema, value: memberOf(envelope, row) as Members | null }
}

/** Returns a field's value, or null. Throws a `DataError` if the field does not exist or has another type. */
export function memberOfType(schema: Schema, struct: Members, name: string, type: SchemaType): unknown {
  const found = fieldOf(schema, name)
  if (found === undefined) throw new DataError(`${name} is not a valid field name`)
  if (found.schema.type !== type) throw new DataError(`Field '${name}' is not of type ${type.toUpperCase()}`)
  return memberOf(struct, found, false)
}
