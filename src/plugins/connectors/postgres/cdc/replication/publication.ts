import { quoted, quotedTable } from '../../../jdbc/identifier.ts'
import type { Session } from '../../session.ts'
import type { AutocreateMode } from '../config/stream-keys.ts'
import type { CapturedTable } from './captured-tables.ts'

export type PublicationConfig = {
  readonly 'publication.name': string
  readonly 'publication.autocreate.mode': AutocreateMode
  readonly 'publish.via.partition.root': boolean
}

export type Publication = {
  readonly isForAllTables: boolean
  /** OIDs of the tables that were added to it. */
  readonly addedIds: ReadonlySet<number>
  /** OIDs of the tables whose changes it publishes, also as a part of their schema or of a partitioned table. */
  readonly publishedIds: ReadonlySet<number>
}

const PUBLICATION_SQL = `
  SELECT p.puballtables,
    (SELECT string_agg(r.prrelid::text, ',') FROM pg_publication_rel r WHERE r.prpubid = p.oid),
    (SELECT string_agg(c.oid::text, ',')
     FROM pg_publication_tables t
     JOIN pg_namespace n ON n.nspname = t.schemaname
     JOIN pg_class c ON c.relname = t.tablename AND c.relnamespace = n.oid
     WHERE t.pubname = p.pubname)
  FROM pg_publication p WHERE p.pubname = $1`

/** Returns undefined if the publication does not exist. */
export async function readPublication(session: Session, name: string): Promise<Publication | undefined> {
  const [row] = await session.query(`read the publication ${name}`, PUBLICATION_SQL, [name])
  if (row === undefined) return undefined
  const [isForAllTables, added, published] = row
  const addedIds = toIds(added)
  return { isForAllTables: isForAllTables === 't', addedIds, publishedIds: new Set([...addedIds, ...toIds(published)]) }
}

function toIds(list: string | null | undefined): ReadonlySet<number> {
  return new Set(list?.split(',').map(Number))
}

/**
 * The statements that create or change the publication as `publication.autocreate.mode` requires. Only `filtered` changes an
 * existing one.
 */
export function publicationSql(
  config: PublicationConfig,
  existing: Publication | undefined,
  tables: readonly CapturedTable[],
): readonly string[] {
  const { 'publication.autocreate.mode': mode, 'publish.via.partition.root': isViaRoot } = config
  const name = quoted(config['publication.name'])
  const list = tables.map((table) => quotedTable(table)).join(', ')
  const options = isViaRoot ? ' WITH (publish_via_partition_root = true)' : ''
  if (existing === undefined) {
    const content = { all_tables: ' FOR ALL TABLES', filtered: ` FOR TABLE ${list}`, no_tables: '', disabled: '' }[mode]
    return mode === 'disabled' ? [] : [`CREATE PUBLICATION ${name}${content}${options}`]
  }
  const isSame = existing.addedIds.size === tables.length && tables.every(({ id }) => existing.addedIds.has(id))
  if (mode !== 'filtered' || existing.isForAllTables || isSame) return []
  return [`ALTER PUBLICATION ${name} SET TABLE ${list}`]
}

/** Whether changes of partitions are published as changes of their root table. Versions before 13 cannot do that. */
export async function publishesRoot(session: Session, name: string): Promise<boolean> {
  const text = "SELECT to_jsonb(p) ->> 'pubviaroot' FROM pg_publication p WHERE p.pubname = $1"
  const [row] = await session.query(`read the publication ${name}`, text, [name])
  return row?.[0] === 'true'
}
