import { javaRegex } from '../../../../java-compat/java-regex.ts'
import { parseTableName, plainTable } from '../../jdbc/identifier.ts'

/** Tables that a signal names. */
export type TablePattern = { readonly test: (name: string) => boolean }

/**
 * Parses a regular expression that matches `schema.table`, in upper or lower case, or the name of a table in quotes such as
 * `"public"."My.Table"`. Throws an `Error` for an invalid expression.
 */
export function parseTablePattern(text: string): TablePattern {
  const exact = quotedName(text)
  try {
    const pattern = javaRegex(`(?i)${text}`, { whole: true })
    return { test: (name) => name === exact || pattern.test(name) }
  } catch (error) {
    if (exact !== undefined) return { test: (name) => name === exact }
    throw new Error(`'${text.slice(0, 100)}' is no regular expression: ${(error as Error).message}`)
  }
}

/** The `schema.table` of a name with quotes; undefined for other texts. */
function quotedName(text: string): string | undefined {
  if (!text.includes('"')) return undefined
  try {
    return plainTable(parseTableName(text))
  } catch {
    return undefined
  }
}
