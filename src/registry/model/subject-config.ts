import { z } from 'zod'
import { COMPATIBILITY_LEVELS, type CompatibilityLevel } from '../../clients/registry-client.ts'
import { optionalBooleanSpec, optionalTextSpec } from './jackson-coercion.ts'
import { invalidCompatibility } from './registry-error.ts'
import { checkRuleSet, type RuleSet, ruleSetSpec } from './rule-set.ts'
import { type Metadata, metadataSpec } from './schema-metadata.ts'

/** The config of a subject, of a context or of the global scope. An absent member is not set. */
export type Config = {
  readonly alias?: string
  readonly aliasForDeks?: string
  readonly normalize?: boolean
  readonly validateFields?: boolean
  readonly validateNewSchemas?: boolean
  readonly validateRules?: boolean
  readonly compatibilityLevel?: CompatibilityLevel
  readonly compatibilityPolicy?: 'STRICT' | 'LENIENT' | 'LOGICAL'
  readonly compatibilityGroup?: string
  readonly defaultMetadata?: Metadata
  readonly overrideMetadata?: Metadata
  readonly defaultRuleSet?: RuleSet
  readonly overrideRuleSet?: RuleSet
}

/** Changes to a config: null removes a member; an absent member is unchanged. */
export type ConfigUpdate = { readonly [Key in keyof Config]: Config[Key] | null }

const level = z.string().transform((text, context): CompatibilityLevel => {
  const found = COMPATIBILITY_LEVELS.find((word) => word === text.toUpperCase())
  if (found) return found
  context.addIssue({ code: 'custom', message: 'unknown level' })
  return z.NEVER
})
const policy = z
  .string()
  .toUpperCase()
  .pipe(z.enum(['STRICT', 'LENIENT', 'LOGICAL']))

const updateSpec = z.object({
  alias: optionalTextSpec,
  aliasForDeks: optionalTextSpec,
  normalize: optionalBooleanSpec,
  validateFields: optionalBooleanSpec,
  validateNewSchemas: optionalBooleanSpec,
  validateRules: optionalBooleanSpec,
  compatibilityLevel: level.nullable(),
  compatibilityPolicy: policy.nullable(),
  compatibilityGroup: optionalTextSpec,
  defaultMetadata: metadataSpec.nullable(),
  overrideMetadata: metadataSpec.nullable(),
  defaultRuleSet: ruleSetSpec.nullable(),
  overrideRuleSet: ruleSetSpec.nullable(),
})

const { compatibilityLevel: _, compatibilityPolicy: __, ...others } = updateSpec.partial().shape

/**
 * The body of `PUT /config`, where the level is named `compatibility`. Throws `invalid_compatibility` or
 * `invalid_rule_set`.
 */
export const configUpdateBody = z
  .object({
    ...others,
    compatibility: z
      .unknown()
      .transform((value) => orInvalidCompatibility(updateSpec.shape.compatibilityLevel, value))
      .meta({ type: ['string', 'null'], description: COMPATIBILITY_LEVELS.join(', ') })
      .optional(),
    compatibilityPolicy: z
      .unknown()
      .transform((value) => orInvalidCompatibility(updateSpec.shape.compatibilityPolicy, value))
      .meta({ type: ['string', 'null'], description: 'STRICT, LENIENT, LOGICAL' })
      .optional(),
  })
  .transform(({ compatibility, ...rest }): ConfigUpdate => {
    const update = (compatibility === undefined ? rest : { ...rest, compatibilityLevel: compatibility }) as ConfigUpdate
    checkRuleSet(update.defaultRuleSet ?? undefined)
    checkRuleSet(update.overrideRuleSet ?? undefined)
    return update
  })
  .meta({ id: 'ConfigUpdate' })

function orInvalidCompatibility<Spec extends z.ZodType>(spec: Spec, value: unknown): z.output<Spec> {
  const parsed = spec.safeParse(value)
  if (!parsed.success) throw invalidCompatibility()
  return parsed.data
}

/** Parses the members of a stored record. Members that cannot be parsed are omitted. */
export function toConfig(stored: Readonly<Record<string, unknown>>): Config {
  const members = Object.entries(updateSpec.shape).flatMap(([key, spec]) => {
    const parsed = spec.safeParse(stored[key])
    return parsed.success && parsed.data != null ? [[key, parsed.data]] : []
  })
  return Object.fromEntries(members) as Config
}

/** Applies an update to a config. */
export function updateConfig(stored: Config | undefined, update: ConfigUpdate): Config {
  const changed = Object.entries({ ...stored, ...update }).filter(([, value]) => value !== null)
  return Object.fromEntries(changed) as Config
}

/** The members that a subject's config inherits from the global config if they are not set. */
const INHERITED = [
  'normalize',
  'validateFields',
  'validateNewSchemas',
  'validateRules',
  'compatibilityPolicy',
  'compatibilityGroup',
] as const

export function inheritConfig(own: Config, global: Config): Config {
  const inherited = INHERITED.flatMap((key) =>
    own[key] === undefined && global[key] !== undefined ? [[key, global[key]]] : [],
  )
  return { ...own, ...Object.fromEntries(inherited) }
}
