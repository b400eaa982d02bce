import { z } from 'zod'
import { optionalBooleanSpec, optionalTextSpec, optionalWordSpec, textSpec } from './jackson-coercion.ts'
import { RegistryError } from './registry-error.ts'

/** A rule that serializers execute. The registry only stores it, validates its members and handles inheritance. */
export type Rule = {
  readonly name?: string
  readonly doc?: string
  readonly kind?: string
  readonly mode?: string
  readonly type?: string
  readonly tags?: readonly string[]
  readonly params?: Readonly<Record<string, string>>
  readonly expr?: string
  readonly onSuccess?: string
  readonly onFailure?: string
  readonly disabled?: boolean
}

export type RuleSet = {
  readonly migrationRules?: readonly Rule[]
  readonly domainRules?: readonly Rule[]
  readonly encodingRules?: readonly Rule[]
  readonly enableAt?: string
}

const RULE_KINDS = ['migrationRules', 'domainRules', 'encodingRules'] as const
type RuleKind = (typeof RULE_KINDS)[number]

const ruleSpec = z
  .object({
    name: optionalTextSpec,
    doc: optionalTextSpec,
    kind: optionalWordSpec(['TRANSFORM', 'CONDITION']),
    mode: optionalWordSpec(['UPGRADE', 'DOWNGRADE', 'UPDOWN', 'WRITE', 'READ', 'WRITEREAD']),
    type: optionalTextSpec,
    tags: z.array(textSpec).nullish(),
    params: z.record(z.string(), textSpec).nullish(),
    expr: optionalTextSpec,
    onSuccess: optionalTextSpec,
    onFailure: optionalTextSpec,
    disabled: optionalBooleanSpec,
  })
  .transform((rule) => withoutEmpty(rule) as Rule)

const rulesSpec = z.array(ruleSpec).nullish()
export const ruleSetSpec = z
  .object({
    migrationRules: rulesSpec,
    domainRules: rulesSpec,
    encodingRules: rulesSpec,
    enableAt: optionalTextSpec,
  })
  .transform((rules) => withoutEmpty(rules) as RuleSet)

const RULES_OF: Readonly<Record<RuleKind, { readonly modes: readonly string[]; readonly title: string }>> = {
  migrationRules: { modes: ['UPGRADE', 'DOWNGRADE', 'UPDOWN'], title: 'Migration' },
  domainRules: { modes: ['WRITE', 'READ', 'WRITEREAD'], title: 'Domain' },
  encodingRules: { modes: ['WRITE', 'READ', 'WRITEREAD'], title: 'Encoding' },
}

/** Validates the names, types and modes of rules. Throws `invalid_rule_set`. */
export function checkRuleSet(ruleSet: RuleSet | undefined): void {
  const names = new Set<string | undefined>()
  for (const kind of RULE_KINDS) {
    for (const rule of ruleSet?.[kind] ?? []) {
      const { modes, title } = RULES_OF[kind]
      if (names.has(rule.name)) throw invalidRule(`Found rule with duplicate name '${rule.name}'`)
      names.add(rule.name)
      checkRule(rule)
      if (rule.mode === undefined || !modes.includes(rule.mode)) {
        throw invalidRule(`${title} rules can only be ${modes.join(', ')}`)
      }
    }
  }
}

function checkRule({ name, type, mode, onSuccess, onFailure }: Rule): void {
  if (name === undefined) throw invalidRule('Missing rule name')
  if (name.length > 64) throw invalidRule('Rule name too long')
  if (!/^[\p{L}_]/u.test(name)) throw invalidRule(`Illegal initial character in rule name: ${name}`)
  if (!/^[\p{L}\p{Nd}_-]+$/u.test(name)) throw invalidRule(`Illegal character in rule name: ${name}`)
  if (type === undefined) throw invalidRule('Missing rule type')
  const both = mode === undefined || mode === 'WRITEREAD' || mode === 'UPDOWN'
  if (!both && [onSuccess, onFailure].some((action) => action?.includes(','))) {
    throw invalidRule('Multiple actions only valid with WRITEREAD and UPDOWN')
  }
}

/**
 * Merges rule sets: rules of `under` with a name that `over` also has are removed, then those of `over` are appended.
 */
export function mergeRuleSets(under: RuleSet | undefined, over: RuleSet | undefined): RuleSet | undefined {
  if (!under || !over) return over ?? under
  const merged = RULE_KINDS.map((kind) => {
    const names = new Set(over[kind]?.map(({ name }) => name))
    return [kind, [...(under[kind] ?? []).filter(({ name }) => !names.has(name)), ...(over[kind] ?? [])]]
  })
  return withoutEmpty({ ...Object.fromEntries(merged), enableAt: over.enableAt ?? under.enableAt }) as RuleSet
}

/** Returns the rule set without the rules that have these names. */
export function withoutRules(rules: RuleSet | undefined, names: readonly string[]): RuleSet | undefined {
  if (!rules) return undefined
  const kept = RULE_KINDS.map((kind) => [kind, rules[kind]?.filter(({ name }) => !names.includes(name ?? ''))])
  return withoutEmpty({ ...rules, ...Object.fromEntries(kept) }) as RuleSet
}

export function invalidRule(message: string): RegistryError {
  return new RegistryError('invalid_rule_set', message)
}

/** Removes null, false, and empty lists, maps and strings, as Confluent's registry does in responses and records. */
function withoutEmpty(entity: object): object {
  return Object.fromEntries(Object.entries(entity).filter(([, value]) => value !== false && !isEmpty(value)))
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
