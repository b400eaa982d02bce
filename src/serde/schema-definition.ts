import type { RegisteredReference, RegistryClient, SchemaMetadata, SchemaRuleSet } from '../clients/registry-client.ts'
import type { FormatType } from '../formats/format.ts'
import { rulesOf, type SchemaIdPolicy, type SourcedSchema, sourceOf } from './schema-id.ts'
import { wrapRequestErrors } from './serde-error.ts'

/** A schema defined by an application. */
export type SchemaDefinition = {
  readonly type: FormatType
  readonly text: string
  readonly references?: readonly ReferenceDefinition[]
  /** Registered with the schema. Metadata and rules that the registry adds also apply. */
  readonly metadata?: SchemaMetadata
  readonly ruleSet?: SchemaRuleSet
}

/**
 * A reference of a schema, identified by the name used in the schema text. Refers either to a registered version or to
 * a text. The subject of a text is the name of the reference, unless `subject` is set.
 */
export type ReferenceDefinition =
  | RegisteredReference
  | {
      readonly name: string
      readonly text: string
      readonly subject?: string
      readonly references?: readonly ReferenceDefinition[]
    }

type Options = { readonly policy: SchemaIdPolicy; readonly normalize: boolean }

/**
 * Resolves a definition to registered references. References by text are registered with the policy `auto-register`,
 * and otherwise looked up.
 */
export async function resolveDefinition(
  registry: RegistryClient,
  { type, text, references = [], metadata, ruleSet }: SchemaDefinition,
  options: Options,
): Promise<SourcedSchema> {
  const resolved: RegisteredReference[] = []
  for (const reference of references) resolved.push(await resolveReference(registry, type, reference, options))
  return wrapRequestErrors('references', () =>
    sourceOf(registry, {
      schemaType: type,
      schema: text,
      references: resolved,
      ...rulesOf({ metadata, ruleSet }),
    }),
  )
}

async function resolveReference(
  registry: RegistryClient,
  type: FormatType,
  reference: ReferenceDefinition,
  options: Options,
): Promise<RegisteredReference> {
  if (!('text' in reference)) return reference
  const { name, subject = name, text, references = [] } = reference
  const { references: transitive = [] } = await resolveDefinition(registry, { type, text, references }, options)
  const schema = { schemaType: type, schema: text, ...(transitive.length > 0 ? { references: transitive } : {}) }
  const { policy, normalize } = options
  return wrapRequestErrors(`reference '${name}'`, async () => {
    if (policy === 'auto-register') await registry.register(subject, schema, { normalize })
    const { version } = await registry.lookup(subject, schema, { normalize })
    return { name, subject, version }
  })
}
