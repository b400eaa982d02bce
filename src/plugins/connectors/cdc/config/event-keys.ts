import { field } from '../../../../sdk/index.ts'
import type { EventSettings } from '../events/event-settings.ts'
import { NAME_ADJUSTMENTS, type NameAdjustment } from '../events/name-adjustment.ts'
import { ColumnRules, type ColumnRulesConfig, parseMessageKeys } from './column-rules.ts'
import { parseNamePatterns } from './name-patterns.ts'
import { type NamingConfig, namingSettings } from './naming-keys.ts'

const group = 'Events'
const columns = 'Columns'
const OPERATIONS = ['c', 'u', 'd', 't', 'none']

const patterns = (key: string, doc: string) =>
  field
    .parsed(
      field.text({
        doc: `${doc} Regular expressions that match the whole name, separated by commas; upper and lower case are the same.`,
        group: columns,
      }),
      (text) => parseNamePatterns(key, text),
    )
    .prefault('')

const adjustment = (doc: string) =>
  field
    .oneOf(NAME_ADJUSTMENTS, {
      doc: `${doc}: none, avro (replaced by \`_\`) or avro_unicode (replaced by \`_uXXXX\`, also \`_\` itself).`,
      group,
    })
    .default('none')

/** Which columns events have, and what events look like, as with Debezium. `table` is the form of the name of a table. */
export function eventKeys(table: string) {
  return {
    'tombstones.on.delete': field
      .boolean({
        doc: 'Whether a delete is followed by a record without a value, so that compaction removes the key.',
        group,
      })
      .default(true),
    'skipped.operations': field
      .parsed(
        field.list({
          doc: 'Operations without events: c (create), u (update), d (delete), t (truncate), or none.',
          group,
          recommended: OPERATIONS,
        }),
        parseOperations,
      )
      .prefault('t'),
    'provide.transaction.metadata': field
      .boolean({
        doc: 'Whether events have their number in the transaction, and a topic has its begin and end.',
        group,
      })
      .default(false),
    'extended.headers.enabled': field
      .boolean({ doc: 'Whether events have headers that name the connector and the task.', importance: 'LOW', group })
      .default(true),
    'schema.name.adjustment.mode': adjustment('Characters in names of schemas that Avro does not allow'),
    'field.name.adjustment.mode': adjustment('Characters in names of fields that Avro does not allow'),
    'column.include.list': patterns('column.include.list', `Columns to capture, as ${table}.COLUMN. Default: all.`),
    'column.exclude.list': patterns('column.exclude.list', `Columns not to capture, as ${table}.COLUMN.`),
    'column.propagate.source.type': patterns(
      'column.propagate.source.type',
      `Columns, as ${table}.COLUMN, whose type, length and scale are added to their schemas.`,
    ),
    'datatype.propagate.source.type': patterns(
      'datatype.propagate.source.type',
      'Types whose name, length and scale are added to the schemas of their columns.',
    ),
    'message.key.columns': field
      .parsed(
        field.text({
          doc: `Columns of keys, instead of the primary key: \`${table}:COLUMN,COLUMN;…\`, each table a regular expression.`,
          group: columns,
        }),
        parseMessageKeys,
      )
      .prefault(''),
  }
}

type EventConfig = ColumnRulesConfig &
  NamingConfig & {
    readonly 'tombstones.on.delete': boolean
    readonly 'skipped.operations': ReadonlySet<string>
    readonly 'skip.messages.without.change': boolean
    readonly 'provide.transaction.metadata': boolean
    readonly 'extended.headers.enabled': boolean
    readonly 'schema.name.adjustment.mode': NameAdjustment
    readonly 'field.name.adjustment.mode': NameAdjustment
    readonly 'unavailable.value.placeholder': string
    readonly 'unavailable.value.mode': EventSettings['unavailable']
  }

/** Throws an `Error` that names the key if a key with a variable name is invalid. */
export function eventSettings(config: EventConfig): EventSettings {
  return {
    topics: namingSettings(config),
    columns: new ColumnRules(config),
    skippedOperations: config['skipped.operations'],
    hasTombstones: config['tombstones.on.delete'],
    hasTransactionMetadata: config['provide.transaction.metadata'],
    hasContextHeaders: config['extended.headers.enabled'],
    skipsUnchanged: config['skip.messages.without.change'],
    schemaNames: config['schema.name.adjustment.mode'],
    fieldNames: config['field.name.adjustment.mode'],
    placeholder: config['unavailable.value.placeholder'],
    unavailable: config['unavailable.value.mode'],
  }
}

function parseOperations(list: readonly string[]): ReadonlySet<string> {
  const unknown = list.find((operation) => !OPERATIONS.includes(operation))
  if (unknown !== undefined) {
    throw new Error(`Invalid value ${unknown} for configuration skipped.operations: expected ${OPERATIONS.join(', ')}`)
  }
  return new Set(list.filter((operation) => operation !== 'none'))
}
