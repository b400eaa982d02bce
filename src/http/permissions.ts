import { matchesWildcard } from '../regex/wildcard.ts'
import { HttpError } from './http-error.ts'
import type { Role } from './users.ts'

/** The permissions by kind of object: a closed set. */
export const ACL_OPERATIONS = {
  subjects: ['read', 'write', 'delete', 'harddelete', 'import', 'config', 'mode'],
  keks: ['read', 'write', 'delete', 'harddelete'],
  connectors: ['read', 'write', 'lifecycle', 'delete', 'offsets', 'loggers', 'internal'],
} as const

export type ObjectKind = keyof typeof ACL_OPERATIONS
export type AclOperation = (typeof ACL_OPERATIONS)[ObjectKind][number]

/** Grants operations on the objects whose names match a pattern; `*` in `operations` means all. */
export type PermissionRule = {
  readonly kind: ObjectKind
  readonly patterns: readonly string[]
  readonly operations: readonly (AclOperation | '*')[]
}

/** The authenticated user of a request. */
export type Principal = {
  readonly name: string
  readonly role: Role
  /** Groups of the token. */
  readonly groups: readonly string[]
  readonly method: 'basic' | 'bearer'
}

/** Rules by role, user and group. */
export type PermissionPolicy = {
  /** A role without an entry keeps its default rules. */
  readonly roles: Readonly<Partial<Record<Role, readonly PermissionRule[]>>>
  readonly users: Readonly<Record<string, readonly PermissionRule[]>>
  readonly groups: Readonly<Record<string, readonly PermissionRule[]>>
}

/**
 * The pattern that matches all objects of a kind. A pattern of subjects without a context applies to the default
 * context only.
 */
const ALL: Readonly<Record<ObjectKind, string>> = { subjects: ':*:*', keks: '*', connectors: '*' }

function ruleForAll(kind: ObjectKind, ...operations: readonly (AclOperation | '*')[]): PermissionRule {
  return { kind, patterns: [ALL[kind]], operations }
}

/** Default rules of the roles. */
const DEFAULT_ROLES: Readonly<Record<Role, readonly PermissionRule[]>> = {
  none: [],
  readonly: [ruleForAll('subjects', 'read'), ruleForAll('keks', 'read'), ruleForAll('connectors', 'read')],
  // Developers may soft-delete subjects, which can be restored. Deleted connectors and their offsets cannot.
  developer: [
    ruleForAll('subjects', 'read', 'write', 'delete'),
    ruleForAll('keks', 'read', 'write', 'delete'),
    ruleForAll('connectors', 'read', 'write', 'lifecycle'),
  ],
  admin: [ruleForAll('subjects', '*'), ruleForAll('keks', '*'), ruleForAll('connectors', '*')],
}

export const NO_POLICY: PermissionPolicy = { roles: {}, users: {}, groups: {} }

/** Permissions of one principal on the objects of one kind; `on` gives those of another kind. */
export class Rights {
  /** Permissions without authentication. */
  static everything(kind: ObjectKind): Rights {
    return new Rights(kind, 'everybody', DEFAULT_ROLES.admin)
  }

  static nothing(kind: ObjectKind): Rights {
    return new Rights(kind, 'nobody', [])
  }

  static forPrincipal(kind: ObjectKind, { name, role, groups }: Principal, policy: PermissionPolicy): Rights {
    return new Rights(kind, name, [
      ...(policy.roles[role] ?? DEFAULT_ROLES[role]),
      ...own(policy.users, name),
      ...groups.flatMap((group) => own(policy.groups, group)),
    ])
  }

  readonly #kind: ObjectKind
  readonly #userName: string
  /** Of all kinds. */
  readonly #rules: readonly PermissionRule[]
  readonly #byOperation = new Map<AclOperation, readonly string[]>()

  private constructor(kind: ObjectKind, userName: string, rules: readonly PermissionRule[]) {
    this.#kind = kind
    this.#userName = userName
    this.#rules = rules
  }

  /** What the same principal may do with the objects of another kind. */
  forKind(kind: ObjectKind): Rights {
    return new Rights(kind, this.#userName, this.#rules)
  }

  allows(operation: AclOperation, name: string): boolean {
    const matches = this.#kind === 'subjects' ? matchesSubject : matchesWildcard
    return this.#patterns(operation).some((pattern) => matches(pattern, name))
  }

  /** Whether the operation is permitted on all objects, including future ones. */
  allowsAll(operation: AclOperation): boolean {
    return this.#patterns(operation).includes(ALL[this.#kind])
  }

  /** Whether the operation is permitted on some objects, which need not exist. */
  allowsAny(operation: AclOperation): boolean {
    return this.#patterns(operation).length > 0
  }

  /** Throws a 403. */
  require(operation: AclOperation, name: string): void {
    if (!this.allows(operation, name)) throw this.#missing(operation, `the ${this.#kind.slice(0, -1)} '${name}'`)
  }

  /** Throws a 403. */
  requireAll(operation: AclOperation): void {
    if (!this.allowsAll(operation)) throw this.#missing(operation, `all ${this.#kind}`)
  }

  /** Throws a 403. */
  requireAny(operation: AclOperation): void {
    if (!this.allowsAny(operation)) throw this.#missing(operation, `any ${this.#kind.slice(0, -1)}`)
  }

  #patterns(operation: AclOperation): readonly string[] {
    const known = this.#byOperation.get(operation)
    if (known) return known
    const patterns = this.#rules
      .filter(
        ({ kind, operations }) => kind === this.#kind && (operations.includes(operation) || operations.includes('*')),
      )
      .flatMap((rule) => rule.patterns)
    this.#byOperation.set(operation, patterns)
    return patterns
  }

  #missing(operation: AclOperation, target: string): HttpError {
    return new HttpError(403, `User '${this.#userName}' lacks the permission '${operation}' on ${target}`)
  }
}

function own(rules: PermissionPolicy['users'], name: string): readonly PermissionRule[] {
  return Object.hasOwn(rules, name) ? (rules[name] ?? []) : []
}

const QUALIFIED = /^:([^:]*):([\s\S]*)$/

/**
 * Matches context and name separately, each with `*`: `orders-*` matches in the default context, `:.team:*` in one
 * context, `:*:*` in all.
 */
function matchesSubject(pattern: string, subject: string): boolean {
  const [, contexts = '.', names = pattern] = QUALIFIED.exec(pattern) ?? []
  const [, context = '.', name = subject] = QUALIFIED.exec(subject) ?? []
  return matchesWildcard(contexts, context) && matchesWildcard(names, name)
}
