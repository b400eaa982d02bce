import type { JavaPattern } from '../../../../../java-compat/java-regex.ts'
import type { CatalogTable } from '../changes/table-catalog.ts'
import type { SnapshotRelation } from './snapshot-plan.ts'

type TableKey = { readonly schema: string; readonly name: string }

export type TableChoice = {
  /** Whether the connector captures the table. */
  readonly isCaptured: (table: TableKey) => boolean
  /** Patterns of `snapshot.include.collection.list`; empty: all captured tables. */
  readonly included: readonly JavaPattern[]
  /** Patterns of `table.include.list`, which give the order of tables; empty: by name. */
  readonly order: readonly JavaPattern[]
  readonly rowCountOrder: 'disabled' | 'ascending' | 'descending'
  /** SELECT statements by `schema.table`. */
  readonly statements: ReadonlyMap<string, string>
  /** Whether the publication publishes changes of partitions as changes of their root. */
  readonly publishesRoot: boolean
}

/** The relations to read, in their order. */
export function chooseRelations(catalog: readonly CatalogTable[], choice: TableChoice): readonly SnapshotRelation[] {
  const byId = new Map(catalog.map((table) => [table.table.id, table]))
  const relations = catalog
    // Partitioned tables have no rows of their own.
    .filter(({ kind }) => kind === 'table')
    .map((relation) => ({ relation, target: choice.publishesRoot ? rootOf(relation, byId) : relation }))
    .filter(({ target: { table } }) => choice.isCaptured(table))
    .filter(({ target: { table } }) => isMatched(table, choice.included))
    .filter(({ target: { table } }) => table.columns.length > 0)
    .map(({ relation, target }) => toRelation(relation, target, choice.statements))
  return orderRelations([...new Map(relations.map((relation) => [relation.id, relation])).values()], choice)
}

function isMatched({ schema, name }: TableKey, patterns: readonly JavaPattern[]): boolean {
  return patterns.length === 0 || patterns.some((pattern) => pattern.test(`${schema}.${name}`))
}

function rootOf(table: CatalogTable, byId: ReadonlyMap<number, CatalogTable>): CatalogTable {
  let root = table
  for (let id = root.partitionOf; id !== undefined; id = root.partitionOf)
    root = byId.get(id) ?? { ...root, partitionOf: undefined }
  return root
}

function toRelation(
  { table: { id, schema, name }, fileNumber, hasToast, rowsEstimate }: CatalogTable,
  target: CatalogTable,
  statements: ReadonlyMap<string, string>,
): SnapshotRelation {
  const statement = statements.get(`${target.table.schema}.${target.table.name}`)
  const common = { table: target.table, hasToast, rowsEstimate, statement }
  if (statement === undefined) return { id, schema, name, fileNumber, ...common }
  // The statement selects the rows of all partitions.
  const { table, fileNumber: targetFileNumber } = target
  return { id: table.id, schema: table.schema, name: table.name, fileNumber: targetFileNumber, ...common }
}

function orderRelations(
  relations: readonly SnapshotRelation[],
  { order, rowCountOrder }: TableChoice,
): readonly SnapshotRelation[] {
  const toRank = ({ table: { schema, name } }: SnapshotRelation) =>
    order.findIndex((pattern) => pattern.test(`${schema}.${name}`))
  const rank = new Map(relations.map((relation) => [relation, toRank(relation)]))
  const listed = relations.toSorted((a, b) => rank.get(a)! - rank.get(b)!)
  if (rowCountOrder === 'disabled') return listed
  const direction = rowCountOrder === 'ascending' ? 1 : -1
  return listed.toSorted((a, b) => direction * (a.rowsEstimate - b.rowsEstimate))
}
