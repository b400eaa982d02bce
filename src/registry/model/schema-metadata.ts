import { z } from 'zod'
import { textSpec } from './jackson-coercion.ts'

/**
 * Metadata of a schema. It is searched and inherited; only properties with the prefix `confluent:` have a meaning here.
 */
export type Metadata = {
  readonly tags?: Readonly<Record<string, readonly string[]>>
  readonly properties?: Readonly<Record<string, string>>
  readonly sensitive?: readonly string[]
}

/** The property with the reserved fields: a comma-separated list of names that top-level fields must not have. */
export const RESERVED_FIELDS = 'confluent:reserved'
/** The property with the version number of the schema. */
export const VERSION_PROPERTY = 'confluent:version'

export const metadataSpec = z
  .object({
    tags: z.record(z.string(), z.array(textSpec)).nullish(),
    properties: z.record(z.string(), textSpec).nullish(),
    sensitive: z.array(textSpec).nullish(),
  })
  .transform(({ tags, properties, sensitive }): Metadata => {
    const sortedTags = tags && sortedRecord(tags, (words) => [...new Set(words)].sort())
    return {
      ...(isEmpty(sortedTags) ? {} : { tags: sortedTags }),
      ...(isEmpty(properties) ? {} : { properties: sortedRecord(properties, (value) => value) }),
      ...(sensitive && sensitive.length > 0 ? { sensitive: [...new Set(sensitive)].sort() } : {}),
    }
  })

/** Merges tags and properties by key, where `over` takes precedence, and unites the sensitive properties. */
export function mergeMetadata(under: Metadata | undefined, over: Metadata | undefined): Metadata | undefined {
  if (!under || !over) return over ?? under
  return metadataSpec.parse({
    tags: { ...under.tags, ...over.tags },
    properties: { ...under.properties, ...over.properties },
    sensitive: [...(under.sensitive ?? []), ...(over.sensitive ?? [])],
  })
}

/** Returns the metadata with one property set, or removed if the value is undefined. */
export function withProperty(metadata: Metadata | undefined, key: string, value: string | undefined): Metadata {
  const { [key]: _, ...rest } = metadata?.properties ?? {}
  return metadataSpec.parse({ ...metadata, properties: value === undefined ? rest : { ...rest, [key]: value } })
}

/** The field names in the property `confluent:reserved`. */
export function reservedFields(metadata: Metadata | undefined): readonly string[] {
  return (metadata?.properties?.[RESERVED_FIELDS] ?? '')
    .split(',')
    .map((field) => field.trim())
    .filter((field) => field !== '')
}

function sortedRecord<In, Out>(record: Readonly<Record<string, In>>, value: (given: In) => Out): Record<string, Out> {
  return Object.fromEntries(
    Object.keys(record)
      .sort()
      .map((key) => [key, value(record[key] as In)]),
  )
}

function isEmpty(record: object | null | undefined): record is null | undefined {
  return record === null || record === undefined || Object.keys(record).length === 0
}
