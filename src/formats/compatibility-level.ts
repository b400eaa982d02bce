import type { CompareOptions, CompatibilityPolicy, FormatType, Incompatibility } from './format.ts'

/** What a configuration says of compatibility. */
export type CompatibilityRules = {
  readonly level:
    | 'NONE'
    | 'BACKWARD'
    | 'BACKWARD_TRANSITIVE'
    | 'FORWARD'
    | 'FORWARD_TRANSITIVE'
    | 'FULL'
    | 'FULL_TRANSITIVE'
  /** Default STRICT. */
  readonly policy?: CompatibilityPolicy | undefined
  /** The name of a metadata property: only versions with the value of the new schema are compared. */
  readonly group?: string | undefined
}

/** The metadata properties of a schema, of which one may name its compatibility group. */
export type GroupProperties = Readonly<Record<string, string>> | undefined

/** What a comparison needs of a schema. */
export type ComparableSchema<Self> = {
  readonly type: FormatType
  incompatibilities(writer: Self, options: CompareOptions): readonly Incompatibility[]
}

/** An earlier version of a subject. */
export type EarlierVersion<Schema> = {
  readonly type: FormatType
  /** Called when its turn comes. Undefined leaves the version out. */
  readonly parsed: () => Schema | undefined
}

/** Why a schema may not follow one earlier version. */
export type VersionConflict<Version, Schema> =
  | { readonly kind: 'type'; readonly version: Version }
  | {
      readonly kind: 'incompatible'
      readonly version: Version
      readonly earlier: Schema
      /** The earlier schema cannot read data of the new one. */
      readonly forward: readonly Incompatibility[]
      /** The new schema cannot read data of the earlier one. */
      readonly backward: readonly Incompatibility[]
    }

/** The versions to compare with under these rules, newest first. `versions` are in ascending order. */
export function comparedVersions<Version extends { readonly properties: GroupProperties }>(
  properties: GroupProperties,
  versions: readonly Version[],
  { level, group }: CompatibilityRules,
): readonly Version[] {
  if (level === 'NONE') return []
  const compared =
    group === undefined ? versions : versions.filter((version) => version.properties?.[group] === properties?.[group])
  return level.endsWith('_TRANSITIVE') ? compared.toReversed() : compared.slice(-1)
}

/** Compares with each version in turn, and yields those that the schema may not follow. */
export function* conflictsWith<Schema extends ComparableSchema<Schema>, Version extends EarlierVersion<Schema>>(
  schema: Schema,
  versions: readonly Version[],
  { level, policy = 'STRICT' }: CompatibilityRules,
): Generator<VersionConflict<Version, Schema>> {
  for (const version of versions) {
    if (version.type !== schema.type) {
      yield { kind: 'type', version }
      continue
    }
    const earlier = version.parsed()
    if (earlier === undefined) continue
    const forward = /^(?:FORWARD|FULL)/.test(level)
      ? earlier.incompatibilities(schema, { roles: { reader: 'old', writer: 'new' }, policy })
      : []
    const backward = /^(?:BACKWARD|FULL)/.test(level)
      ? schema.incompatibilities(earlier, { roles: { reader: 'new', writer: 'old' }, policy })
      : []
    if (forward.length + backward.length > 0) yield { kind: 'incompatible', version, earlier, forward, backward }
  }
}
