import type { JavaPattern } from '../../../../java-compat/java-regex.ts'
import { javaRegex } from '../../../../java-compat/java-regex.ts'
import { field } from '../../../../sdk/index.ts'
import { plainTable, type TableName } from '../identifier.ts'

export type ColumnsByTable = readonly { readonly tables: JavaPattern; readonly columns: readonly string[] }[]

/** Defines a key that assigns columns to tables: `REGEX:COLUMN` or `REGEX:[COLUMN|COLUMN]`, separated by commas. */
export function columnsMapping(key: string, doc: string) {
  return field
    .parsed(
      field.list({ doc, importance: 'MEDIUM', group: 'Reading' }),
      (list): ColumnsByTable =>
        list.map((entry) => {
          const [, regex, inBrackets, plain] = /^(.+):(?:\[([^\]]+)\]|([^:[\]]+))$/.exec(entry) ?? []
          if (regex === undefined) throw new Error(`${key}: '${entry}' must be REGEX:COLUMN or REGEX:[COLUMN|COLUMN]`)
          return { tables: javaRegex(regex, { whole: true }), columns: (inBrackets ?? plain)!.split('|') }
        }),
    )
    .prefault('')
}

/** Returns the columns of a table, or undefined if the mapping is empty. Throws unless exactly one entry matches. */
export function columnsFor(mapping: ColumnsByTable, table: TableName, key: string): readonly string[] | undefined {
  if (mapping.length === 0) return undefined
  const matching = mapping.filter(({ tables }) => tables.test(plainTable(table)))
  if (matching.length === 1) return matching[0]!.columns
  throw new Error(`${key}: ${matching.length} entries match the table ${plainTable(table)}, but exactly one must match`)
}
