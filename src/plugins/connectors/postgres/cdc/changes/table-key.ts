import type { Relation } from '../replication/pgoutput.ts'
import type { Table } from './change.ts'
import type { Attribute, CatalogTable } from './table-catalog.ts'

type RelationColumn = Relation['columns'][number]

/**
 * Returns the key of a table as of its relation message: the primary key of the catalog if the server sends the old values of all
 * its columns. Otherwise the columns of the replica identity, because the key of a deleted row must be known. These columns are the
 * primary key as of the relation message, or the index of `REPLICA IDENTITY USING INDEX`. A part of a key is never returned.
 */
export function tableKey(
  relation: Relation,
  catalog: Pick<CatalogTable, 'table' | 'attributes'> | undefined,
): Pick<Table, 'keyNames' | 'unknownKeyName'> {
  const names = catalog?.table.keyNames ?? []
  const columns = names.map((name) => formerColumn(name, relation, catalog!.attributes))
  const key = columns.filter((column) => typeof column === 'object')
  const identity = relation.columns.filter(({ isIdentity }) => isIdentity)
  const isSent = key.length === names.length && names.length > 0 && key.every(({ isIdentity }) => isIdentity)
  const usesKey = relation.replicaIdentity === 'index' ? isSent : relation.replicaIdentity !== 'default'
  if (identity.length > 0 && !usesKey) return { keyNames: ordered(identity, columns) }
  if (key.length === names.length) return { keyNames: key.map(({ name }) => name) }
  // The table had none of these columns, so it got this key later.
  if (columns.every((column) => column === 'absent')) return { keyNames: [] }
  return { keyNames: [], unknownKeyName: names[columns.findIndex((column) => typeof column === 'string')]! }
}

/** The columns of the replica identity in the order of the key. Columns whose place is not known have the places that are left. */
function ordered(
  identity: readonly RelationColumn[],
  key: readonly ReturnType<typeof formerColumn>[],
): readonly string[] {
  const rest = identity.filter((column) => !key.includes(column))
  const placed = key.flatMap((column) => {
    if (column === 'unknown') return rest.shift() ?? []
    return column !== 'absent' && identity.includes(column) ? column : []
  })
  return [...placed, ...rest].map(({ name }) => name)
}

/**
 * Finds the column of a relation message that has this name in the catalog now. A column that was renamed since keeps its place:
 * columns are numbered in the order of their creation. Columns with the same name before and after it limit where it can be; between
 * them are all columns that exist now, and any of those that were dropped. `absent`: the column was added after the message.
 */
function formerColumn(
  name: string,
  { columns }: Relation,
  attributes: readonly Attribute[],
): RelationColumn | 'absent' | 'unknown' {
  const same = columns.find((column) => column.name === name)
  if (same !== undefined) return same
  const sent = attributes.filter((one) => !one.isGenerated || columns.some((column) => column.name === one.name))
  const place = sent.findIndex((attribute) => attribute.name === name)
  const known = columns.flatMap((column, index) => {
    const number = sent.findIndex((attribute) => attribute.name === column.name)
    return number < 0 ? [] : { index, number }
  })
  const isInOrder = known.every(({ number }, index) => index === 0 || known[index - 1]!.number < number)
  if (place < 0 || !isInOrder) return 'unknown'
  const left = known.findLast(({ number }) => number < place) ?? { index: -1, number: -1 }
  const right = known.find(({ number }) => number > place)
  const candidates = columns.slice(left.index + 1, right?.index)
  const before = countOf(sent.slice(left.number + 1, place))
  const after = countOf(sent.slice(place + 1, right?.number))
  const others = candidates.length - 1
  if (right === undefined && others < before.existing + before.dropped) {
    return others < before.existing ? 'absent' : 'unknown'
  }
  const first = Math.max(before.existing, others - after.existing - after.dropped)
  // Columns after the last known one may have been added since.
  const last = Math.min(before.existing + before.dropped, others - (right === undefined ? 0 : after.existing))
  return first === last ? candidates[first]! : 'unknown'
}

function countOf(attributes: readonly Attribute[]): { readonly existing: number; readonly dropped: number } {
  const existing = attributes.filter(({ name }) => name !== undefined).length
  return { existing, dropped: attributes.length - existing }
}
