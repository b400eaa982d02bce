import { ROLES, type Role } from './users.ts'

export type Claims = Readonly<Record<string, unknown>>

/** The strings of a claim: a list, or a string of words. `realm_access.roles` names a nested claim. */
export function claimValues(claims: Claims, path: string): readonly string[] {
  const value = valueAt(claims, path)
  if (typeof value === 'string') return value.split(/[\s,]+/).filter((word) => word !== '')
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}

/**
 * The highest role that the values of a claim map to. Entries of `mapping` are `WORD=ROLE`, with `*` for every token;
 * without entries the values are role names.
 */
export function roleOf(values: readonly string[], mapping: readonly (readonly [value: string, role: Role])[]): Role {
  const found =
    mapping.length === 0
      ? ROLES.filter((role) => values.includes(role))
      : mapping.filter(([value]) => value === '*' || values.includes(value)).map(([, role]) => role)
  return ROLES.findLast((role) => found.includes(role)) ?? 'none'
}

function valueAt(claims: Claims, path: string): unknown {
  if (path === '') return undefined
  if (Object.hasOwn(claims, path)) return claims[path]
  let value: unknown = claims
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Claims)[part]
  }
  return value
}
