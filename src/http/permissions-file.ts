import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { messageOf, UserError } from '../common/errors.ts'
import { type WatchedContent, watchContent } from '../common/file-watcher.ts'
import type { Logger } from '../common/logging/logger.ts'
import { parseYaml } from '../common/yaml-documents.ts'
import {
  ACL_OPERATIONS,
  CONNECTOR_TOPIC_OPERATIONS,
  NO_POLICY,
  type PermissionPolicy,
  type PermissionRule,
  USER_TOPIC_OPERATIONS,
} from './permissions.ts'
import { ROLES } from './users.ts'

const names = z.array(z.string().min(1)).min(1)
const operationsOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.array(z.enum(['*', ...words], `expected * or some of ${words.join(', ')}`)).min(1)

const ruleSpec = z
  .union([
    z.strictObject({ subjects: names, operations: operationsOf(ACL_OPERATIONS.subjects) }),
    z.strictObject({ keks: names, operations: operationsOf(ACL_OPERATIONS.keks) }),
    z.strictObject({ connectors: names, operations: operationsOf(ACL_OPERATIONS.connectors) }),
    z.strictObject({ topics: names, operations: operationsOf(USER_TOPIC_OPERATIONS) }),
  ])
  .transform((rule): PermissionRule => {
    const { operations } = rule
    if ('subjects' in rule) return { kind: 'subjects', patterns: rule.subjects, operations }
    if ('keks' in rule) return { kind: 'keks', patterns: rule.keks, operations }
    if ('topics' in rule) return { kind: 'topics', patterns: rule.topics, operations }
    return { kind: 'connectors', patterns: rule.connectors, operations }
  })
const rules = z.array(ruleSpec)
const connectorRuleSpec = z
  .union([
    z.strictObject({ topics: names, operations: operationsOf(CONNECTOR_TOPIC_OPERATIONS) }),
    z.strictObject({ groups: names, operations: operationsOf(ACL_OPERATIONS.groups) }),
  ])
  .transform((rule): PermissionRule => {
    const { operations } = rule
    if ('topics' in rule) return { kind: 'topics', patterns: rule.topics, operations }
    return { kind: 'groups', patterns: rule.groups, operations }
  })
const fileSpec = z.strictObject({
  roles: z.partialRecord(z.enum(ROLES), rules).default({}),
  users: z.record(z.string(), rules).default({}),
  groups: z.record(z.string(), rules).default({}),
  connectors: z.record(z.string(), z.array(connectorRuleSpec)).default({}),
})

/** Parses a permissions file (YAML). Throws a `UserError` with the location of each error. */
export function parsePermissions(text: string, file: string): PermissionPolicy {
  let content: unknown
  try {
    content = parseYaml(text)
  } catch (error) {
    throw new UserError('invalid_permissions', `${file}: ${messageOf(error)}`)
  }
  const parsed = fileSpec.safeParse(content)
  if (parsed.success) return parsed.data as PermissionPolicy
  const wrong = parsed.error.issues.map((issue) => `${file}: ${issue.path.join('.') || 'the file'}: ${reasonOf(issue)}`)
  throw new UserError('invalid_permissions', wrong.join('\n'))
}

/** The setting of every program with authentication. */
export type PermissionsSettings = { readonly 'weir.authorization.permissions.file': string }

/** The permissions of a file, reloaded when it changes. An invalid file keeps the previous permissions. */
export function openPermissions(
  settings: PermissionsSettings,
  logger: Logger,
  onChange?: (policy: PermissionPolicy) => void,
): WatchedContent<PermissionPolicy> {
  const file = settings['weir.authorization.permissions.file']
  if (file === '') return { current: () => NO_POLICY, close: () => {} }
  return watchContent({
    files: [file],
    read: () => parsePermissions(readText(file), file),
    logger,
    ...(onChange && { onChange }),
  })
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UserError('invalid_permissions', `cannot read the permissions file ${file}: ${messageOf(error)}`)
  }
}

/** For a rule that matches no kind, the reason why it does not match the closest one. */
function reasonOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_union') return issue.message
  const nearest = issue.errors.toSorted((a, b) => a.length - b.length)[0] ?? []
  return nearest.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')).join('; ')
}
