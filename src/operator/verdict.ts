import type {
  CompatibilityLevel,
  NewSchema,
  RegisteredReference,
  RegisteredSchema,
  RegistrySchemaType,
} from '../clients/registry.ts'
import { unreachable } from '../config/errors.ts'
import { type Format, type ParsedSchema, SchemaError } from '../formats/format.ts'
import { type Dependency, dependenciesOf, type Referenced } from '../formats/references.ts'

/** Where referenced schemas are read. */
export type SchemaLookup = (subject: string, version: number) => Promise<RegisteredSchema>

/** Why a schema may not follow those that are there; empty: it may. */
export type Objections = readonly string[]

/**
 * Whether `schema` may be registered after `earlier` (oldest first) under a level: the answer the registry will give,
 * before anything is written. Throws a `SchemaError` for a text that is no schema. An earlier version that can't be
 * understood is passed over: the registry has the last word.
 */
export async function objectionsTo(
  schema: NewSchema,
  earlier: readonly RegisteredSchema[],
  level: CompatibilityLevel,
  lookup: SchemaLookup,
): Promise<Objections> {
  const candidate = await parseSchema(schema, lookup)
  const meaning = meaningOf(level)
  const compared = meaning.transitive ? [...earlier].reverse() : earlier.slice(-1)
  const objections: string[] = []
  for (const one of compared) {
    const type = one.schemaType ?? 'AVRO'
    if (type === candidate.type) {
      const old = await parseSchema(one, lookup).catch(() => undefined)
      if (old !== undefined)
        objections.push(...between(candidate, old, meaning).map((objection) => `version ${one.version}: ${objection}`))
    } else if (meaning.backward || meaning.forward) {
      objections.push(`the schema type changes from ${type} in version ${one.version} to ${candidate.type}`)
    }
  }
  return objections
}

type Meaning = { readonly backward: boolean; readonly forward: boolean; readonly transitive: boolean }

function between(candidate: ParsedSchema, old: ParsedSchema, { backward, forward }: Meaning): Objections {
  return [
    ...(backward ? tell(candidate, old, { reader: 'new', writer: 'old' }) : []),
    ...(forward ? tell(old, candidate, { reader: 'old', writer: 'new' }) : []),
  ]
}

function tell(reader: ParsedSchema, writer: ParsedSchema, roles: { reader: string; writer: string }): Objections {
  return reader.incompatibilities(writer, { roles }).map(({ type, path, message }) => {
    const described = /description:'(.*?)', additionalInfo/s.exec(message)?.[1] ?? message
    return `${type} at ${path === '' ? '/' : path}: ${described}`
  })
}

function meaningOf(level: CompatibilityLevel): Meaning {
  return {
    backward: /^(BACKWARD|FULL)/.test(level),
    forward: /^(FORWARD|FULL)/.test(level),
    transitive: level.endsWith('_TRANSITIVE'),
  }
}

async function parseSchema(schema: NewSchema, lookup: SchemaLookup): Promise<ParsedSchema> {
  const references = schema.references ?? []
  const format = await formatOf(schema.schemaType ?? 'AVRO')
  const dependencies = await fetchDependencies(references, lookup)
  return format.parse({ text: schema.schema, references, dependencies })
}

/** Only the languages that are used are loaded. */
async function formatOf(type: RegistrySchemaType): Promise<Format> {
  switch (type) {
    case 'AVRO':
      return (await import('../formats/avro/avro.ts')).avroFormat
    case 'JSON':
      return (await import('../formats/json/json.ts')).jsonFormat
    case 'PROTOBUF':
      return (await import('../formats/protobuf/protobuf.ts')).protobufFormat
    default:
      return unreachable(type)
  }
}

async function fetchDependencies(
  references: readonly RegisteredReference[],
  lookup: SchemaLookup,
): Promise<readonly Dependency[]> {
  const texts = new Map<string, Referenced>()
  const fetch = async (list: readonly RegisteredReference[]): Promise<void> => {
    for (const reference of list) {
      const place = placeOf(reference)
      if (texts.has(place)) continue
      const found = await lookup(reference.subject, reference.version)
      texts.set(place, { text: found.schema, references: found.references ?? [] })
      await fetch(found.references ?? [])
    }
  }
  await fetch(references)
  return dependenciesOf(
    references,
    (reference) => texts.get(placeOf(reference)),
    (reference) => {
      throw new SchemaError(`reference ${reference.name} leads nowhere`)
    },
  )
}

function placeOf({ subject, version }: RegisteredReference): string {
  return `${version} ${subject}`
}
