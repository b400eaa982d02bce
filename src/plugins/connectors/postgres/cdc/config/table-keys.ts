import { field } from '../../../../../sdk/index.ts'
import { parseNamePatterns } from '../../../cdc/config/name-patterns.ts'

const group = 'Tables'

/** Which tables and logical messages are captured, as with Debezium. */
export const tableKeys = {
  'schema.include.list': patterns(
    'schema.include.list',
    'Schemas to capture. Default: all except those of the system.',
  ),
  'schema.exclude.list': patterns('schema.exclude.list', 'Schemas not to capture.'),
  'table.include.list': patterns('table.include.list', 'Tables to capture, as SCHEMA.TABLE. Default: all.'),
  'table.exclude.list': patterns('table.exclude.list', 'Tables not to capture, as SCHEMA.TABLE.'),
  'message.prefix.include.list': patterns(
    'message.prefix.include.list',
    'Prefixes of logical messages to capture. Default: all.',
  ),
  'message.prefix.exclude.list': patterns(
    'message.prefix.exclude.list',
    'Prefixes of logical messages not to capture.',
  ),
}

/** Pairs of keys of which only one may be set. */
export const EXCLUSIVE_KEYS = [
  ['schema.include.list', 'schema.exclude.list'],
  ['table.include.list', 'table.exclude.list'],
  ['column.include.list', 'column.exclude.list'],
  ['message.prefix.include.list', 'message.prefix.exclude.list'],
] as const

function patterns(key: string, doc: string) {
  const info = {
    doc: `${doc} Regular expressions that match the whole name, separated by commas; upper and lower case are the same.`,
    importance: 'HIGH',
    group,
  } as const
  return field.parsed(field.text(info), (text) => parseNamePatterns(key, text)).prefault('')
}
