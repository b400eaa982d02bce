import { z } from 'zod'
import type { SchemaRuleSet } from '../../clients/registry-client.ts'

export type RuleMode = 'WRITE' | 'READ'
/** Domain rules apply to values, encoding rules to their serialized bytes. */
export type RulePhase = 'domainRules' | 'encodingRules'

/** A rule of a schema, validated. */
export type DataRule = {
  readonly name: string
  readonly kind: string
  readonly mode: string
  /** The executor of the rule, such as `ENCRYPT`. */
  readonly type: string
  readonly tags: readonly string[]
  readonly params: Readonly<Record<string, string>>
  readonly onSuccess: string | undefined
  readonly onFailure: string | undefined
}

const wireRule = z.looseObject({
  name: z.string().nullish(),
  kind: z.string().nullish(),
  mode: z.string().nullish(),
  type: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  params: z.record(z.string(), z.string()).nullish(),
  onSuccess: z.string().nullish(),
  onFailure: z.string().nullish(),
  disabled: z.boolean().nullish(),
})

/** Values of `enableAt` for which Confluent's clients execute rules. Other values refer to a gateway or a broker. */
const CLIENT_PLACES: readonly unknown[] = [undefined, null, 'ALL', 'CLIENT']

/**
 * Returns the enabled rules of a phase and mode in execution order; reading reverses the order of writing. Of rules
 * with the same tags, type and mode, only the first one is used.
 */
export function rulesToRun(ruleSet: SchemaRuleSet | undefined, phase: RulePhase, mode: RuleMode): readonly DataRule[] {
  if (!CLIENT_PLACES.includes(ruleSet?.enableAt)) return []
  const enabled = (ruleSet?.[phase] ?? [])
    .map((rule) => wireRule.parse(rule))
    .filter(({ disabled }) => disabled !== true)
  const applied: DataRule[] = []
  for (const wire of enabled) {
    const rule = dataRule(wire)
    if (rule.mode !== mode && rule.mode !== 'WRITEREAD') continue
    if (!applied.some((earlier) => transformsSameTags(earlier, rule))) applied.push(rule)
  }
  return mode === 'READ' ? applied.reverse() : applied
}

/** Returns the action after success or failure. A rule for both modes may specify two actions, separated by a comma. */
export function actionOf(rule: DataRule, outcome: 'onSuccess' | 'onFailure', mode: RuleMode): string {
  const named = rule[outcome]
  if (!named) return outcome === 'onFailure' ? 'ERROR' : 'NONE'
  if (rule.mode !== 'WRITEREAD' || !named.includes(',')) return named
  const [onWrite = '', onRead = ''] = named.split(',')
  return mode === 'WRITE' ? onWrite : onRead
}

function dataRule({ name, kind, mode, type, tags, params, onSuccess, onFailure }: z.infer<typeof wireRule>): DataRule {
  return {
    name: name ?? '',
    kind: kind ?? 'TRANSFORM',
    mode: mode ?? '',
    type: type ?? '',
    tags: tags ?? [],
    params: params ?? {},
    onSuccess: onSuccess ?? undefined,
    onFailure: onFailure ?? undefined,
  }
}

function transformsSameTags(one: DataRule, other: DataRule): boolean {
  return (
    one.tags.length > 0 &&
    one.kind === 'TRANSFORM' &&
    one.kind === other.kind &&
    one.mode === other.mode &&
    one.type === other.type &&
    one.tags.toSorted().join('\0') === other.tags.toSorted().join('\0')
  )
}
