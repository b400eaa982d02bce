import { type JavaPattern, javaRegex } from '../../../../../java-compat/java-regex.ts'
import { field } from '../../../../../sdk/index.ts'

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
  ['message.prefix.include.list', 'message.prefix.exclude.list'],
] as const

function patterns(key: string, doc: string) {
  const info = {
    doc: `${doc} Regular expressions that match the whole name, separated by commas; upper and lower case are the same.`,
    importance: 'HIGH',
    group,
  } as const
  return field.parsed(field.text(info), (text) => parsePatterns(key, text)).prefault('')
}

/** A comma in an expression is written `\,`. Throws an `Error` for an invalid expression. */
function parsePatterns(key: string, text: string): readonly JavaPattern[] {
  return text
    .split(/(?<!\\),/)
    .map((entry) => entry.replaceAll('\\,', ',').trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      try {
        return javaRegex(`(?i)${entry}`, { whole: true })
      } catch (error) {
        throw new Error(
          `Invalid value ${text} for configuration ${key}: '${entry}' is no regular expression: ${(error as Error).message}`,
        )
      }
    })
}
