/** A table name. Without a schema, the table is resolved through the search path. */
export type TableName = { readonly schema: string | undefined; readonly name: string }

/**
 * `always` preserves the case of names; `never` leaves them unquoted, so the server folds them to lower case. A name that is not
 * an identifier without quotes is always quoted: names of fields and topics must not become other SQL.
 */
export const QUOTE_METHODS = ['always', 'never'] as const
export type QuoteMethod = (typeof QUOTE_METHODS)[number]
export type Quote = (name: string) => string

export function quoting(method: QuoteMethod, quote: Quote = quoted): Quote {
  return method === 'always' ? quote : (name) => (PLAIN.test(name) ? name : quote(name))
}

/** A name that needs no quotes. */
const PLAIN = /^[\p{L}_][\p{L}\p{M}\p{N}_$]*$/u

/** Quotes a name as the SQL standard does. */
export const quoted = quoteWith('"')

export function quoteWith(mark: QuoteMark): Quote {
  return (name) => `${mark}${name.replaceAll(mark, mark + mark)}${mark}`
}

export function quotedTable({ schema, name }: TableName, quote: Quote = quoted): string {
  return schema === undefined ? quote(name) : `${quote(schema)}.${quote(name)}`
}

/** Returns `schema.name` unquoted, as used in offsets and in messages. */
export function plainTable(table: TableName): string {
  return quotedTable(table, (name) => name)
}

/** What encloses a quoted name: a double quote in the SQL standard, a backtick in MySQL. */
export type QuoteMark = '"' | '`'

const PARTS: Readonly<Record<QuoteMark, RegExp>> = {
  '"': /"((?:[^"]|"")+)"|([^.",]+)/y,
  '`': /`((?:[^`]|``)+)`|([^.`,]+)/y,
}
const LIST_ITEMS: Readonly<Record<QuoteMark, RegExp>> = {
  '"': /(?:"(?:[^"]|"")*"|[^,"])+/g,
  '`': /(?:`(?:[^`]|``)*`|[^,`])+/g,
}

/**
 * Parses `name`, `schema.name` or `database.schema.name`, each part quoted or unquoted. Throws if the text has another
 * form.
 */
export function parseTableName(text: string, mark: QuoteMark = '"'): TableName {
  const parts = splitName(text.trim(), mark)
  const name = parts?.at(-1)
  if (parts === undefined || name === undefined || parts.length > 3)
    throw new Error(`'${text}' is not the name of a table`)
  return { schema: parts.at(-2), name }
}

/** Returns undefined if the text is not a valid name. */
function splitName(text: string, mark: QuoteMark): readonly string[] | undefined {
  const parts: string[] = []
  const pattern = PARTS[mark]
  for (let at = 0; at <= text.length; at += 1) {
    pattern.lastIndex = at
    const [, inQuotes, plain] = pattern.exec(text) ?? []
    const part = inQuotes?.replaceAll(mark + mark, mark) ?? plain
    if (part === undefined) return undefined
    parts.push(part)
    at = pattern.lastIndex
    if (at < text.length && text[at] !== '.') return undefined
  }
  return parts
}

/** Parses comma-separated, optionally quoted names, the format of the `tables` key in a task configuration. */
export function parseTableNames(text: string, mark: QuoteMark = '"'): readonly TableName[] {
  return [...text.matchAll(LIST_ITEMS[mark])].map(([name]) => parseTableName(name, mark))
}
