import type { ParsedEvent } from './debezium-replay.ts'

type Struct = Readonly<Record<string, unknown>>
type SchemaField = { readonly field: string; readonly fields?: readonly SchemaField[] }

/**
 * Where events differ: the names of columns whose values or schemas do, otherwise the table and the part of the event. Events of
 * heartbeats depend on the time and are not compared.
 */
export function differencesOf(expected: readonly ParsedEvent[], actual: readonly ParsedEvent[]): readonly string[] {
  const compared = expected.filter(({ topic }) => !/heartbeat|^hb\./.test(topic))
  if (compared.length !== actual.length) return [`${actual.length} events instead of ${compared.length}`]
  return [...new Set(compared.flatMap((event, at) => differencesBetween(event, actual[at]!)))]
}

function differencesBetween(expected: ParsedEvent, actual: ParsedEvent): readonly string[] {
  const table = tableOf(actual.topic)
  const parts = (['topic', 'key', 'keySchema', 'headers'] as const).filter(
    (part) => !isSame(expected[part], actual[part]),
  )
  return [
    ...parts.map((part) => `${table}.${part}`),
    ...schemaDifferences(table, expected.valueSchema as SchemaField | null, actual.valueSchema as SchemaField | null),
    ...valueDifferences(table, expected.value, actual.value),
  ]
}

function tableOf(topic: string): string {
  return topic.replace(/^.*?(?:public|Odd-schema)[._]/, '')
}

function schemaDifferences(table: string, expected: SchemaField | null, actual: SchemaField | null): readonly string[] {
  if (isSame(expected, actual)) return []
  const [wanted, found] = [columnsOf(expected), columnsOf(actual)]
  const names = [...new Set([...wanted.keys(), ...found.keys()])]
  const columns = names.filter((name) => !isSame(wanted.get(name), found.get(name)))
  const isElsewhere = !isSame(withoutColumns(expected), withoutColumns(actual))
  return isElsewhere ? [...columns, `${table}.schema`] : columns
}

function columnsOf(schema: SchemaField | null): ReadonlyMap<string, unknown> {
  const after = schema?.fields?.find(({ field }) => field === 'after')
  return new Map(after?.fields?.map((field) => [field.field, field]))
}

function withoutColumns(schema: SchemaField | null): unknown {
  const fields = schema?.fields?.map((one) => (/before|after/.test(one.field) ? { ...one, fields: [] } : one))
  return { ...schema, fields }
}

function valueDifferences(table: string, expected: Struct | null, actual: Struct | null): readonly string[] {
  if (expected === null || actual === null) return expected === actual ? [] : [`${table}.value`]
  return [...new Set([...Object.keys(expected), ...Object.keys(actual)])].flatMap((name) => {
    const [wanted, found] = [expected[name], actual[name]]
    if (isSame(wanted, found)) return []
    const isRow = /before|after/.test(name) && wanted && found
    return isRow ? memberDifferences(wanted as Struct, found as Struct) : [`${table}.${name}`]
  })
}

function memberDifferences(expected: Struct, actual: Struct): readonly string[] {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(actual)])]
  return names.filter((name) => !isSame(expected[name], actual[name]))
}

/** Also compares the order of members. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
