import type { CompareOptions, CompatibilityPolicy, FormatType, Incompatibility } from './format.ts'

/** The compatibility settings of a subject. */
export type CompatibilityRules = {
  readonly level:
    | 'NONE'
    | 'BACKWARD'
    | 'BACKWARD_TRANSITIVE'
    | 'FORWARD'
    | 'FORWARD_TRANSITIVE'
    | 'FULL'
    | 'FULL_TRANSITIVE'
  /** Default: STRICT. */
  readonly policy?: CompatibilityPolicy | undefined
  /** The name of a metadata property. Only versions with the same value as the new schema are compared. */
  readonly group?: string | undefined
}

/** The metadata properties of a schema. One of them can be the compatibility group. */
export type GroupProperties = Readonly<Record<string, string>> | undefined

/** The parts of a parsed schema that a comparison needs. */
export type ComparableSchema<Self> = {
  readonly type: FormatType
  incompatibilities(writer: Self, options: CompareOptions): readonly Incompatibility[]
}

/** An earlier version of a subject. */
export type EarlierVersion<Schema> = {
  readonly type: FormatType
  /** Called only when the version is compared. Undefined excludes the version. */
  readonly parsed: () => Schema | undefined
}

/** Why a schema is not compatible with an earlier version: another schema type, or incompatibilities. */
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

/** Returns the versions to compare with under these rules, newest first. `versions` are in ascending order. */
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

/** Compares the schema with each version in turn and yields the conflicts. */
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
