/** A table; without a schema it is looked for in the search path. */
export type TableName = { readonly schema: string | undefined; readonly name: string }

/** `always` keeps names as they are written; `never` leaves their case to the server, which lowers it. */
export const QUOTE_METHODS = ['always', 'never'] as const
export type QuoteMethod = (typeof QUOTE_METHODS)[number]
export type Quote = (name: string) => string

export function quoting(method: QuoteMethod): Quote {
  return method === 'always' ? quoted : (name) => name
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quotedTable({ schema, name }: TableName, quote: Quote = quoted): string {
  return schema === undefined ? quote(name) : `${quote(schema)}.${quote(name)}`
}

/** `schema.name`, as it stands in offsets and in messages. */
export function plainTable(table: TableName): string {
  return quotedTable(table, (name) => name)
}

const PART = /"((?:[^"]|"")+)"|([^.",]+)/y

/** Reads `name`, `schema.name` and `database.schema.name`, each part quoted or not. Throws when it is none of them. */
export function parseTableName(text: string): TableName {
  const parts = splitName(text.trim())
  const name = parts?.at(-1)
  if (parts === undefined || name === undefined || parts.length > 3)
    throw new Error(`'${text}' is not the name of a table`)
  return { schema: parts.at(-2), name }
}

/** Undefined when it can't be read. */
function splitName(text: string): readonly string[] | undefined {
  const parts: string[] = []
  for (let at = 0; at <= text.length; at += 1) {
    PART.lastIndex = at
    const [, inQuotes, plain] = PART.exec(text) ?? []
    const part = inQuotes?.replaceAll('""', '"') ?? plain
    if (part === undefined) return undefined
    parts.push(part)
    at = PART.lastIndex
    if (at < text.length && text[at] !== '.') return undefined
  }
  return parts
}

/** Names in quotes, separated by commas, as the `tables` of a task are written. */
export function parseTableNames(text: string): readonly TableName[] {
  return (text.match(/(?:"(?:[^"]|"")*"|[^,"])+/g) ?? []).map(parseTableName)
}
