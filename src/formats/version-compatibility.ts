import type { CompatibilityPolicy, Incompatibility, ParsedSchema } from './format.ts'

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

/** Why a schema is not compatible with an earlier schema of the same type. */
export type Incompatibilities = {
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

/** Compares a schema with an earlier one of the same type. Returns undefined if they are compatible. */
export function compareSchemas(
  schema: ParsedSchema,
  earlier: ParsedSchema,
  { level, policy = 'STRICT' }: Pick<CompatibilityRules, 'level' | 'policy'>,
): Incompatibilities | undefined {
  const forward = /^(?:FORWARD|FULL)/.test(level)
    ? earlier.incompatibilities(schema, { roles: { reader: 'old', writer: 'new' }, policy })
    : []
  const backward = /^(?:BACKWARD|FULL)/.test(level)
    ? schema.incompatibilities(earlier, { roles: { reader: 'new', writer: 'old' }, policy })
    : []
  return forward.length + backward.length > 0 ? { forward, backward } : undefined
}
