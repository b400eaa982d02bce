import { z } from 'zod'
import { textSpec } from './jackson.ts'

/** What users attach to a schema: searched and inherited, never interpreted but for `confluent:` properties. */
export type Metadata = {
  readonly tags?: Readonly<Record<string, readonly string[]>>
  readonly properties?: Readonly<Record<string, string>>
  readonly sensitive?: readonly string[]
}

/** Names fields that schemas must not use at their top. */
export const RESERVED_FIELDS = 'confluent:reserved'
/** The version of the schema it stands in. */
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

/** `over` wins over `under`, member by member. */
export function mergeMetadata(under: Metadata | undefined, over: Metadata | undefined): Metadata | undefined {
  if (!under || !over) return over ?? under
  return metadataSpec.parse({
    tags: { ...under.tags, ...over.tags },
    properties: { ...under.properties, ...over.properties },
    sensitive: [...(under.sensitive ?? []), ...(over.sensitive ?? [])],
  })
}

/** With one property set, or taken away when the value is undefined. */
export function withProperty(metadata: Metadata | undefined, key: string, value: string | undefined): Metadata {
  const { [key]: _, ...rest } = metadata?.properties ?? {}
  return metadataSpec.parse({ ...metadata, properties: value === undefined ? rest : { ...rest, [key]: value } })
}

/** The fields that `confluent:reserved` names. */
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
