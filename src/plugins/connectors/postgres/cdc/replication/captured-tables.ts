import type { RowTexts } from '../../../jdbc/row-texts.ts'
import type { Session } from '../../session.ts'
import type { CaptureFilter } from '../config/capture-filter.ts'

/** A table of the database that the configuration includes. */
export type CapturedTable = {
  readonly id: number
  readonly schema: string
  readonly name: string
  /** The partitioned table that it is a part of. */
  readonly rootId: number | undefined
  /** `d` default, `f` full, `n` nothing, `i` index. */
  readonly replicaIdentity: string
  /** The index of the replica identity `i`. */
  readonly identityIndex: string | undefined
  readonly hasPrimaryKey: boolean
  /** Whether the role owns the table, which it must to add it to a publication. */
  readonly isOwned: boolean
  /** Whether the role may select rows of the table. */
  readonly isReadable: boolean
  /** Whether row-level security applies to the role, which then reads only the rows that the policies of the table allow. */
  readonly hasPolicies: boolean
}

/** Ordinary and partitioned tables. Unlogged and temporary tables have no changes in the log. */
const TABLES_SQL = `
  SELECT c.oid, n.nspname, c.relname,
    CASE WHEN c.relispartition THEN (SELECT relid FROM pg_partition_ancestors(c.oid) a(relid) JOIN pg_class r ON r.oid = relid WHERE NOT r.relispartition) END,
    c.relreplident, EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary),
    pg_has_role(c.relowner, 'USAGE'), has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'),
    row_security_active(c.oid),
    (SELECT x.relname FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = c.oid AND i.indisreplident)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p'
  ORDER BY n.nspname, c.relname`

/** Reads the tables that are captured, without partitions of a table that is captured itself. */
export async function readCapturedTables(session: Session, filter: CaptureFilter): Promise<readonly CapturedTable[]> {
  const rows = await session.query('list tables', TABLES_SQL)
  const included = rows.map(toTable).filter((table) => filter.includes(table))
  const ids = new Set(included.map(({ id }) => id))
  return included.filter(({ rootId }) => rootId === undefined || !ids.has(rootId))
}

function toTable([
  id,
  schema,
  name,
  root,
  identity,
  hasKey,
  isOwned,
  isReadable,
  hasPolicies,
  index,
]: RowTexts): CapturedTable {
  return {
    id: Number(id),
    schema: schema!,
    name: name!,
    rootId: root == null ? undefined : Number(root),
    replicaIdentity: identity!,
    identityIndex: index ?? undefined,
    hasPrimaryKey: hasKey === 't',
    isOwned: isOwned === 't',
    isReadable: isReadable === 't',
    hasPolicies: hasPolicies === 't',
  }
}
