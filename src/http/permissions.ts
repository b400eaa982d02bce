import { matchesWildcard } from '../regex/wildcard.ts'
import { HttpError } from './http-error.ts'
import type { Principal, Role } from './users.ts'

/** The permissions by kind of object: a closed set. */
export const ACL_OPERATIONS = {
  subjects: ['read', 'write', 'delete', 'harddelete', 'import', 'config', 'mode'],
  keks: ['read', 'write', 'delete', 'harddelete'],
  connectors: ['read', 'write', 'lifecycle', 'delete', 'offsets', 'loggers', 'internal'],
  /** Of users: to see a topic with its consumer groups, and to read its records. `write` and groups are granted to connectors only. */
  topics: ['describe', 'read', 'write'],
  groups: ['read'],
} as const

/** What users may be granted on topics. */
export const USER_TOPIC_OPERATIONS = ['describe', 'read'] as const
/** What connectors may be granted on topics: which data their tasks may use. */
export const CONNECTOR_TOPIC_OPERATIONS = ['read', 'write'] as const

export type ObjectKind = keyof typeof ACL_OPERATIONS
export type AclOperation = (typeof ACL_OPERATIONS)[ObjectKind][number]

/** Grants operations on the objects whose names match a pattern; `*` in `operations` means all. */
export type PermissionRule = {
  readonly kind: ObjectKind
  readonly patterns: readonly string[]
  readonly operations: readonly (AclOperation | '*')[]
}

/** Rules for the data that connectors use, by a pattern of connector names. */
export type ConnectorRules = Readonly<Record<string, readonly PermissionRule[]>>

/** Rules by role, user, group and connector. */
export type PermissionPolicy = {
  /** A role without an entry keeps its default rules. */
  readonly roles: Readonly<Partial<Record<Role, readonly PermissionRule[]>>>
  readonly users: Readonly<Record<string, readonly PermissionRule[]>>
  readonly groups: Readonly<Record<string, readonly PermissionRule[]>>
  readonly connectors: ConnectorRules
}

/**
 * The pattern that matches all objects of a kind. A pattern of subjects without a context applies to the default
 * context only.
 */
const ALL: Readonly<Record<ObjectKind, string>> = {
  subjects: ':*:*',
  keks: '*',
  connectors: '*',
  topics: '*',
  groups: '*',
}

function ruleForAll(kind: ObjectKind, ...operations: readonly (AclOperation | '*')[]): PermissionRule {
  return { kind, patterns: [ALL[kind]], operations }
}

/** Default rules of the roles. */
const DEFAULT_ROLES: Readonly<Record<Role, readonly PermissionRule[]>> = {
  none: [],
  // Records can contain more than anybody who sees what runs may know: to read them is a permission of its own.
  readonly: [
    ruleForAll('subjects', 'read'),
    ruleForAll('keks', 'read'),
    ruleForAll('connectors', 'read'),
    ruleForAll('topics', 'describe'),
  ],
  // Developers may soft-delete subjects, which can be restored. Deleted connectors and their offsets cannot.
  developer: [
    ruleForAll('subjects', 'read', 'write', 'delete'),
    ruleForAll('keks', 'read', 'write', 'delete'),
    ruleForAll('connectors', 'read', 'write', 'lifecycle'),
    ruleForAll('topics', 'describe'),
  ],
  admin: [
    ruleForAll('subjects', '*'),
    ruleForAll('keks', '*'),
    ruleForAll('connectors', '*'),
    ruleForAll('topics', ...USER_TOPIC_OPERATIONS),
  ],
}

export const NO_POLICY: PermissionPolicy = { roles: {}, users: {}, groups: {}, connectors: {} }

/** Permissions of one principal on the objects of one kind; `on` gives those of another kind. */
export class Rights {
  /** Permissions without authentication. */
  static everything(kind: ObjectKind): Rights {
    return new Rights(kind, 'everybody', DEFAULT_ROLES.admin)
  }

  static nothing(kind: ObjectKind): Rights {
    return new Rights(kind, 'nobody', [])
  }

  /** Built once for a principal and a policy. */
  static forPrincipal(kind: ObjectKind, principal: Principal, policy: PermissionPolicy): Rights {
    const known = built.get(principal)
    if (known?.policy === policy && known.rights.#kind === kind) return known.rights
    const { name, role, groups } = principal
    const rights = new Rights(kind, name, [
      ...(policy.roles[role] ?? DEFAULT_ROLES[role]),
      ...own(policy.users, name),
      ...groups.flatMap((group) => own(policy.groups, group)),
    ])
    built.set(principal, { policy, rights })
    return rights
  }

  /** What a connector may do with topics or groups. Undefined if no pattern of the rules matches it: then nothing restricts it. */
  static forConnector(kind: 'topics' | 'groups', connector: string, rules: ConnectorRules): Rights | undefined {
    const matching = Object.entries(rules).filter(([pattern]) => matchesWildcard(pattern, connector))
    if (matching.length === 0) return undefined
    return new Rights(
      kind,
      connector,
      matching.flatMap(([, granted]) => granted),
    )
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
    if (this.allowsAll(operation)) return true
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

/** The rights of the principals that are in use. */
const built = new WeakMap<Principal, { readonly policy: PermissionPolicy; readonly rights: Rights }>()

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
