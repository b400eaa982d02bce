import type {
  NewSchema,
  Registered,
  RegisteredReference,
  RegistryClient,
  SchemaById,
  SchemaMetadata,
  SchemaRuleSet,
} from '../clients/registry-client.ts'
import type { FormatType, ParsedSchema, SchemaSource } from '../formats/format.ts'
import { resolveReferences } from './resolve-references.ts'
import { SerdeError, wrapRequestErrors, wrapSchemaErrors } from './serde-error.ts'
import type { SchemaId } from './wire-format.ts'

/**
 * - `auto-register`: register the schema, which has no effect if it is already registered.
 * - `look-up`: the schema must already be registered.
 * - `use-latest`: write with the latest schema of the subject.
 */
export type SchemaIdPolicy = 'auto-register' | 'look-up' | 'use-latest'

export type SchemaIdOptions = {
  /** `{ id }`: write with the schema that has this id. */
  readonly policy: SchemaIdPolicy | { readonly id: number }
  /** Whether the registry normalizes schemas. */
  readonly normalize: boolean
  /** With `use-latest` and `{ id }`: reject a schema that is incompatible with the given one. */
  readonly strict: boolean
}

/** A schema with the texts of its references. */
export type SourcedSchema = SchemaSource & {
  readonly type: FormatType
  readonly metadata?: SchemaMetadata
  readonly ruleSet?: SchemaRuleSet
}
export type Parse<Parsed> = (source: SourcedSchema, validation: 'strict' | 'loose') => Parsed | Promise<Parsed>
/** The schema to write with, and its id. */
export type WriteSchema<Parsed> = {
  readonly id: number
  readonly parsed: Parsed
  readonly source: SourcedSchema
  /** The schema stored under the id; undefined if the registry returned only the id. */
  readonly stored?: Pick<NewSchema, 'metadata' | 'ruleSet'> | undefined
}

/**
 * Returns the schema and id to write data of a subject with. Without `own`, the latest schema of the subject is used.
 */
export async function findWriteSchema<Parsed extends ParsedSchema>(
  registry: RegistryClient,
  subject: string,
  own: Pick<WriteSchema<Parsed>, 'parsed' | 'source'> | undefined,
  options: SchemaIdOptions & { readonly parse: Parse<Parsed> },
): Promise<WriteSchema<Parsed>> {
  const { policy, normalize, strict, parse } = options
  return wrapRequestErrors(`schema of subject '${subject}'`, async () => {
    if (typeof policy === 'object') {
      const source = await sourceOf(registry, await registry.byId(policy.id), subject)
      const parsed = await parse(source, 'loose')
      if (strict && own !== undefined) rejectIncompatible(`schema ${policy.id}`, parsed, own.parsed)
      return { id: policy.id, parsed, source, stored: source }
    }
    if (policy !== 'use-latest' && own !== undefined) {
      const { id, stored } = await registerOrLookUp(registry, subject, own.source, { policy, normalize })
      return { parsed: own.parsed, source: own.source, id, stored }
    }
    const latest = await registry.latest(subject)
    const source = await sourceOf(registry, latest, subject)
    const parsed = await parse(source, 'loose')
    if (strict && own !== undefined) rejectIncompatible(`the latest schema of subject '${subject}'`, parsed, own.parsed)
    return { id: latest.id, parsed, source, stored: latest }
  })
}

/** Registers or looks up a schema, according to the policy. */
async function registerOrLookUp(
  registry: RegistryClient,
  subject: string,
  source: SourcedSchema,
  { policy, normalize }: { readonly policy: SchemaIdPolicy; readonly normalize: boolean },
): Promise<Pick<WriteSchema<ParsedSchema>, 'id' | 'stored'>> {
  const schema = toNewSchema(source)
  const registered: Registered & Partial<NewSchema> =
    policy === 'auto-register'
      ? await registry.register(subject, schema, { normalize })
      : await registry.lookup(subject, schema, { normalize })
  return { id: registered.id, stored: registered.schema === undefined ? undefined : registered }
}

/** Fetches a schema by its id, with the texts of its references. */
export function fetchSchema(registry: RegistryClient, id: SchemaId): Promise<SourcedSchema> {
  return wrapRequestErrors(`schema ${id}`, async () => sourceOf(registry, await fetchRegisteredSchema(registry, id)))
}

export function fetchRegisteredSchema(registry: RegistryClient, id: SchemaId): Promise<SchemaById> {
  return typeof id === 'number' ? registry.byId(id) : registry.byGuid(id)
}

/** Adds the texts of all references to a schema of a subject. */
export async function sourceOf(registry: RegistryClient, schema: NewSchema, subject?: string): Promise<SourcedSchema> {
  const { schemaType: type = 'AVRO', schema: text, references = [], metadata, ruleSet } = schema
  const dependencies = await resolveReferences(registry, references, subject)
  return { type, text, references, dependencies, ...rulesOf({ metadata, ruleSet }) }
}

type Rules = { readonly metadata?: SchemaMetadata | undefined; readonly ruleSet?: SchemaRuleSet | undefined }

/** Omits members that are undefined. */
export function rulesOf({ metadata, ruleSet }: Rules): {
  readonly metadata?: SchemaMetadata
  readonly ruleSet?: SchemaRuleSet
} {
  return { ...(metadata ? { metadata } : {}), ...(ruleSet ? { ruleSet } : {}) }
}

function toNewSchema({ type, text, references = [], metadata, ruleSet }: SourcedSchema): NewSchema {
  const written: readonly RegisteredReference[] = references
  return {
    schema: text,
    ...(type === 'AVRO' ? {} : { schemaType: type }),
    ...(written.length > 0 ? { references: written } : {}),
    ...rulesOf({ metadata, ruleSet }),
  }
}

function rejectIncompatible(which: string, given: ParsedSchema, own: ParsedSchema): void {
  const incompatible = (reason: string) =>
    new SerdeError('incompatible', `${which} is incompatible with the given schema: ${reason}`)
  if (given.type !== own.type) throw incompatible(`it is ${given.type}, not ${own.type}`)
  const roles = { reader: 'latest', writer: 'record' }
  const [first] = wrapSchemaErrors('invalid_schema', () => given.incompatibilities(own, { roles }))
  if (first) throw incompatible(first.message)
}
