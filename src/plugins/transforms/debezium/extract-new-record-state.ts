import {
  type ConnectRecord,
  defineTransform,
  field,
  type RecordHeader,
  type Schema,
  STRING,
  z,
} from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { insertField } from '../insert-field.ts'
import { replaceField } from '../replace-field.ts'
import { basicsOf, membersOf, oncePerSchema, replaceNullField, structOf } from '../struct-access.ts'
import { parseAddedFields, resolveAddedFields } from './added-field.ts'
import { type DebeziumChange, memberOfType, rowOf, toDebeziumChange } from './envelope.ts'

/** How deletes are handled (`null` keeps the schema, `tombstone` does not), and the tombstones that follow them. */
type Deletes = {
  readonly deletes: 'drop' | 'null' | 'tombstone' | 'rewrite'
  readonly tombstones: 'drop' | 'keep'
}

const MODES = {
  drop: { deletes: 'drop', tombstones: 'drop' },
  tombstone: { deletes: 'null', tombstones: 'drop' },
  rewrite: { deletes: 'rewrite', tombstones: 'drop' },
  'rewrite-with-tombstone': { deletes: 'rewrite', tombstones: 'keep' },
  'delete-to-tombstone': { deletes: 'tombstone', tombstones: 'drop' },
} as const satisfies Readonly<Record<string, Deletes>>
type Mode = keyof typeof MODES
const MODE_NAMES = Object.keys(MODES) as [Mode, ...Mode[]]
const LEGACY = { drop: 'drop', rewrite: 'rewrite', none: 'null' } as const

const prefix = (what: string) => field.text({ doc: `Prefix of the name of each added ${what}.` }).default('__')
const added = (what: string) =>
  field
    .list({
      doc: `Metadata of the event that is added as a ${what}, if present: <code>op</code>, <code>source.ts_ms</code>, or with another name <code>ts_ms:CHANGED</code>.`,
    })
    .default([])

const config = z.object({
  'delete.tombstone.handling.mode': field
    .oneOf(MODE_NAMES, {
      doc:
        'How deletes and the tombstones after them are handled: drop both; keep a null value with its schema; rewrite to ' +
        'the last state with __deleted, without or with the tombstone; or convert the delete to a tombstone.',
    })
    .default('tombstone'),
  'delete.handling.mode': field
    .oneOf(['drop', 'rewrite', 'none'], {
      doc: 'Key of Debezium before 2.5, with drop.tombstones: how deletes are handled.',
    })
    .optional(),
  'drop.tombstones': field.boolean({ doc: 'Key of Debezium before 2.5: whether tombstones are dropped.' }).optional(),
  'route.by.field': field.text({ doc: 'The column whose value is the topic.', importance: 'LOW' }).default(''),
  'add.fields.prefix': prefix('field'),
  'add.fields': added('field'),
  'add.headers.prefix': prefix('header'),
  'add.headers': added('header'),
  'drop.fields.header.name': field
    .text({ doc: 'The header with a list of fields to drop.', importance: 'LOW' })
    .optional(),
  'drop.fields.from.key': field
    .boolean({ doc: 'Drop these fields from the key, too.', importance: 'LOW' })
    .default(false),
  'drop.fields.keep.schema.compatible': field
    .boolean({ doc: 'Drop optional fields only.', importance: 'LOW' })
    .default(true),
  'replace.null.with.default': replaceNullField(),
})
type Config = z.infer<typeof config>

/** Extracts the row of Debezium's change events. */
export const extractNewRecordState = defineTransform({
  class: 'ExtractNewRecordState',
  aliases: ['io.debezium.transforms.ExtractNewRecordState'],
  version: SHIPPED_VERSION,
  summary:
    "Extracts the row from Debezium's change events: the state after the change. Deletes are handled as configured.",
  notes: 'Records that are not change events pass unchanged; truncations are dropped.',
  config,
  create(settings) {
    const { deletes, tombstones } = deletesOf(settings)
    const topicField = settings['route.by.field']
    const headersOf = headerAdder(settings)
    const addFields = fieldAdder(settings)
    const dropFields = fieldDropper(settings)
    const marked = { true: deletedMark('true', settings), false: deletedMark('false', settings) }

    const routed = <R extends ConnectRecord>(record: R, row: Row): R => {
      if (topicField === '' || row.value === null) return record
      const topic = memberOfType(row.schema, row.value, topicField, 'string') as string | null
      return topic === null || topic.trim() === '' ? record : { ...record, topic }
    }

    const deleted = <R extends ConnectRecord>(record: R, change: DebeziumChange, before: Row): R | null => {
      if (deletes === 'drop') return null
      if (deletes === 'tombstone') return { ...routed(record, before), valueSchema: null, value: null }
      if (deletes === 'null') {
        return dropFields({ ...routed(record, before), valueSchema: rowOf(change, 'after').schema, value: null })
      }
      const row = { ...record, valueSchema: before.schema, value: before.value }
      return addFields(dropFields(routed(marked.true(row), before)), change)
    }

    const kept = <R extends ConnectRecord>(record: R, change: DebeziumChange, after: Row): R => {
      const row = { ...record, valueSchema: after.schema, value: after.value }
      return dropFields(addFields(routed(deletes === 'rewrite' ? marked.false(row) : row, after), change))
    }

    return (given) => {
      const change = toDebeziumChange(given)
      const isTombstone = given.value === null || given.value === undefined
      if (!isTombstone && change === undefined) return given
      const record = { ...given, headers: [...given.headers, ...headersOf(change)] }
      if (change === undefined) return tombstones === 'keep' ? record : null
      const after = rowOf(change, 'after')
      if (after.value !== null) return kept(record, change, after)
      const before = rowOf(change, 'before')
      return before.value === null ? null : deleted(record, change, before)
    }
  },
})

/** The name before Debezium 1.0, with the defaults and the key that it had. */
export const unwrapFromEnvelope = defineTransform({
  class: 'UnwrapFromEnvelope',
  aliases: ['io.debezium.transforms.UnwrapFromEnvelope'],
  version: SHIPPED_VERSION,
  summary: 'ExtractNewRecordState, with the name and the defaults of Debezium before 1.0.',
  notes:
    'Use `ExtractNewRecordState` in new configurations. `operation.header` and `add.source.fields` are not supported: use `add.headers` and `add.fields`.',
  config: config.omit({ 'delete.tombstone.handling.mode': true }).extend({
    'drop.deletes': field
      .boolean({ doc: 'Whether deletes are dropped; otherwise they have a null value. See delete.handling.mode.' })
      .optional(),
    'drop.tombstones': field.boolean({ doc: 'Whether tombstones are dropped.' }).default(true),
  }),
  create: ({ 'drop.deletes': dropsDeletes, ...settings }) =>
    extractNewRecordState.create({
      ...settings,
      'delete.tombstone.handling.mode': 'tombstone',
      'delete.handling.mode': settings['delete.handling.mode'] ?? (dropsDeletes === false ? 'none' : 'drop'),
    }),
})

type Row = ReturnType<typeof rowOf>
type Step = <R extends ConnectRecord>(record: R) => R

function deletesOf(settings: Config): Deletes {
  const { 'delete.handling.mode': legacy, 'drop.tombstones': dropped } = settings
  if (legacy === undefined && dropped === undefined) return MODES[settings['delete.tombstone.handling.mode']]
  return { deletes: LEGACY[legacy ?? 'drop'], tombstones: dropped === false ? 'keep' : 'drop' }
}

/** Adds the field `__deleted` as a string. */
function deletedMark(value: 'true' | 'false', settings: Config): Step {
  const insert = insertField[1].create({
    'static.field': '__deleted',
    'static.value': value,
    'replace.null.with.default': settings['replace.null.with.default'],
  })
  return (record) => insert(record) ?? record
}

/** Returns the headers to add. For a tombstone, only the operation is known. */
function headerAdder(settings: Config): (change: DebeziumChange | undefined) => readonly RecordHeader[] {
  const fields = parseAddedFields('add.headers', settings['add.headers.prefix'], settings['add.headers'])
  const found = oncePerSchema((schema) => resolveAddedFields(fields, schema))
  return (change) => {
    if (change !== undefined) {
      return found(change.schema).map((one) => ({
        key: one.field.name,
        schema: one.field.schema,
        value: one.of(change.envelope),
      }))
    }
    return fields.filter(({ name }) => name === 'op').map(({ as }) => ({ key: as, schema: STRING, value: 'd' }))
  }
}

function fieldAdder(settings: Config): <R extends ConnectRecord>(record: R, change: DebeziumChange) => R {
  const fields = parseAddedFields('add.fields', settings['add.fields.prefix'], settings['add.fields'])
  const found = oncePerSchema((schema) => resolveAddedFields(fields, schema))
  const extended = oncePerSchema((envelope) =>
    oncePerSchema((row) =>
      structOf(basicsOf(row), [...(row.fields ?? []), ...found(envelope).map((one) => one.field)]),
    ),
  )
  return (record, { schema, envelope }) => {
    const row = record.valueSchema as Schema
    const values = found(schema).map((one) => [one.field.name, one.of(envelope)])
    const members = membersOf(row, record.value as Record<string, unknown>, false)
    return { ...record, valueSchema: extended(schema)(row), value: { ...members, ...Object.fromEntries(values) } }
  }
}

function fieldDropper(settings: Config): Step {
  const name = settings['drop.fields.header.name']
  if (name === undefined || name.trim() === '') return (record) => record
  const keepsCompatible = settings['drop.fields.keep.schema.compatible']
  const leaveOut = (side: 0 | 1, schema: Schema | null, unwanted: readonly string[]): Step => {
    const fields = (schema?.fields ?? []).filter((one) => !keepsCompatible || one.schema.optional)
    const exclude = fields.map((one) => one.name).filter((one) => unwanted.includes(one))
    return exclude.length === 0 ? (record) => record : step(side, exclude)
  }
  const made = new Map<string, Step>()
  const step = (side: 0 | 1, exclude: readonly string[]): Step => {
    const key = `${side} ${exclude.join()}`
    const known = made.get(key)
    if (known !== undefined) return known
    const nothing = { include: [], renames: new Map(), 'replace.null.with.default': true }
    const change = replaceField[side].create({ exclude: [...exclude], ...nothing })
    const fresh: Step = (record) => change(record) ?? record
    made.set(key, fresh)
    return fresh
  }
  return (record) => {
    const unwanted = record.headers.find(({ key }) => key === name)?.value
    if (!Array.isArray(unwanted)) return record
    const withKey = settings['drop.fields.from.key'] ? leaveOut(0, record.keySchema, unwanted)(record) : record
    return leaveOut(1, withKey.valueSchema, unwanted)(withKey)
  }
}
