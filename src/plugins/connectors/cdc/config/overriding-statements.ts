/** The SELECT statements of `snapshot.select.statement.overrides`, by `schema.table` or `database.table`. Throws if one is missing. */
export function overridingStatements(
  tables: readonly string[],
  raw: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  return new Map(
    tables.map((table) => {
      const key = `snapshot.select.statement.overrides.${table}`
      const statement = raw[key]?.trim().replace(/;$/, '')
      if (!statement) throw new Error(`${key} is missing: snapshot.select.statement.overrides names the table ${table}`)
      return [table, statement]
    }),
  )
}
