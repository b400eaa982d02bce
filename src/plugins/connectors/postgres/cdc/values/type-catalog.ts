import type { Session } from '../../session.ts'

/** A type as the server's catalog describes it. */
export type CatalogType = {
  readonly id: number
  readonly name: string
  readonly kind: 'base' | 'enum' | 'domain' | 'range' | 'other'
  /** OID of the type of the items; undefined if the type is not an array. */
  readonly itemId: number | undefined
  /** Type of which a domain is made, and the modifier that the domain gives to it. */
  readonly baseId: number
  readonly baseModifier: number
  /** Values of an enum, in order. */
  readonly labels: readonly string[]
}

/** One row for each type: its columns have the order of `toCatalogType`. */
export const CATALOG_QUERY = `
  SELECT t.oid, t.typname, t.typtype, CASE WHEN t.typcategory = 'A' AND t.typtype = 'b' THEN t.typelem END,
    t.typbasetype, t.typtypmod, (SELECT json_agg(enumlabel ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid)
  FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
  WHERE t.typtype <> 'p' AND (c.oid IS NULL OR c.relkind = 'c')
  ORDER BY t.oid`

const KINDS: Readonly<Record<string, CatalogType['kind']>> = { b: 'base', e: 'enum', d: 'domain', r: 'range' }

/** The types of a database. */
export class TypeCatalog {
  readonly #types = new Map<number, CatalogType>()

  constructor(rows: readonly (readonly (string | null)[])[]) {
    this.add(rows)
  }

  static async read(session: Session): Promise<TypeCatalog> {
    return new TypeCatalog(await session.query('read the types of the database', CATALOG_QUERY))
  }

  /** Reads the catalog again if one of the types is not known: it was created since. */
  async load(session: Session, ids: Iterable<number>): Promise<void> {
    if ([...ids].every((id) => this.#types.has(id))) return
    this.add(await session.query('read the types of the database', CATALOG_QUERY))
  }

  add(rows: readonly (readonly (string | null)[])[]): void {
    for (const row of rows) {
      const type = toCatalogType(row)
      this.#types.set(type.id, type)
    }
  }

  get(id: number): CatalogType | undefined {
    return this.#types.get(id)
  }
}

function toCatalogType([id, name, kind, itemId, baseId, modifier, labels]: readonly (string | null)[]): CatalogType {
  return {
    id: Number(id),
    name: name!,
    kind: KINDS[kind!] ?? 'other',
    itemId: itemId === null || itemId === undefined ? undefined : Number(itemId),
    baseId: Number(baseId),
    baseModifier: Number(modifier),
    labels: labels === null || labels === undefined ? [] : (JSON.parse(labels) as string[]),
  }
}
