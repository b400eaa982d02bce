import { z } from 'zod'
import { REGISTRY_MODES } from '../../clients/registry-client.ts'
import type { FormatType } from '../../formats/format.ts'
import type { SchemaTags, TagChange } from '../../formats/tags.ts'
import { parseMode } from '../commands/change-mode.ts'
import type { TagsUpdate } from '../commands/change-tags.ts'
import type { Registration } from '../commands/register-schema.ts'
import { integerSpec, optionalBooleanSpec, optionalTextSpec, textSpec } from '../model/jackson-coercion.ts'
import { invalidVersion, RegistryError } from '../model/registry-error.ts'
import { ruleSetSpec } from '../model/rule-set.ts'
import { metadataSpec } from '../model/schema-metadata.ts'
import type { VersionSelector } from '../queries/schema-lookup.ts'

// Parameters of paths and request bodies, parsed with the rules of Confluent's registry: unknown members are ignored.

const VERSION_MAX = 2 ** 31 - 1

/** Parses a version: `latest` in any case, `-1`, or a positive 32-bit integer. Throws `invalid_version`. */
function parseVersion(raw: string): VersionSelector {
  const word = raw.trim()
  if (word.toLowerCase() === 'latest' || word === '-1') return 'latest'
  const version = /^\+?\d+$/.test(word) ? Number(word) : 0
  if (version < 1 || version > VERSION_MAX) throw invalidVersion(raw)
  return version
}

/** Parses a schema ID. Throws `no_such_resource` if it is not an integer. */
function parseId(raw: string): number {
  if (!/^[-+]?\d{1,10}$/.test(raw)) throw new RegistryError('no_such_resource', 'HTTP 404 Not Found')
  return Number(raw)
}

// Other parameters of the path, such as the context, are kept as they are.
export const versionInPath = z.looseObject({
  version: z.string().transform(parseVersion).describe('A number, latest or -1.'),
})
export const idInPath = z.looseObject({ id: z.string().transform(parseId) })

const referenceSpec = z.object({
  name: textSpec,
  subject: textSpec,
  version: integerSpec({ min: -1 }).describe('-1 is the latest version.'),
})
const tagsSpec = z.array(
  z.object({
    schemaEntity: z.object({
      entityPath: textSpec.describe('The full name of a record or of a field, such as ns.Record or ns.Record.field.'),
      entityType: z.enum(['sr_record', 'sr_field']),
    }),
    tags: z.array(textSpec),
  }),
)

export type SchemaBody = Pick<Registration, 'schema' | 'id' | 'version' | 'tags' | 'propagateTags'>

/** The body of a registration, a lookup or a compatibility check. */
export const schemaBody = z
  .object({
    version: integerSpec(),
    id: integerSpec().describe('Required in mode IMPORT, and rejected in other modes.'),
    schemaType: optionalTextSpec.describe('Default: AVRO.'),
    references: z.array(referenceSpec).nullish(),
    metadata: metadataSpec.nullish(),
    ruleSet: ruleSetSpec.nullish(),
    schema: optionalTextSpec.describe('If it is empty, the schema of the latest version is used.'),
    schemaTagsToAdd: tagsSpec.nullish(),
    schemaTagsToRemove: tagsSpec.nullish(),
    propagateSchemaTags: optionalBooleanSpec.describe('Copies the tags of the previous version.'),
  })
  .transform(({ schema, schemaType, references, metadata, ruleSet, id, version, ...more }): SchemaBody => {
    const tags = tagChange(more.schemaTagsToAdd, more.schemaTagsToRemove)
    return {
      schema: {
        // `Formats.load` rejects unknown types.
        type: (schemaType || 'AVRO') as FormatType,
        text: schema ?? '',
        references: (references ?? []).map(({ version: at, ...reference }) => ({ ...reference, version: at ?? -1 })),
        metadata: metadata ?? undefined,
        ruleSet: ruleSet ?? undefined,
      },
      id: id ?? -1,
      // Changing tags creates a new version, which gets the `confluent:version` property.
      version: version ?? (tags ? -1 : 0),
      tags,
      propagateTags: more.propagateSchemaTags ?? false,
    }
  })
  .meta({ id: 'NewSchema' })

/** The body of a request that changes tags. */
export const tagsBody = z
  .object({
    newVersion: integerSpec({ min: 0 }).describe('0 is the next version.'),
    tagsToAdd: tagsSpec.nullish(),
    tagsToRemove: tagsSpec.nullish(),
    metadata: metadataSpec.nullish(),
    ruleSet: ruleSetSpec.nullish(),
    rulesToMerge: ruleSetSpec.nullish(),
    rulesToRemove: z.array(textSpec).nullish().describe('The names of the rules to remove.'),
  })
  .transform(
    ({ newVersion, tagsToAdd, tagsToRemove, ...more }): TagsUpdate => ({
      newVersion: newVersion ?? 0,
      tags: tagChange(tagsToAdd, tagsToRemove) ?? { add: [], remove: [] },
      metadata: more.metadata ?? undefined,
      ruleSet: more.ruleSet ?? undefined,
      rulesToMerge: more.rulesToMerge ?? undefined,
      rulesToRemove: more.rulesToRemove ?? undefined,
    }),
  )
  .meta({ id: 'TagsUpdate' })

/** The response repeats the mode as it was sent. */
export const modeBody = z
  .object({ mode: z.unknown().meta({ type: ['string', 'null'], description: REGISTRY_MODES.join(', ') }) })
  .transform(({ mode }) => ({ mode: parseMode(mode), sent: mode as string | null }))
  .meta({ id: 'ModeUpdate' })

type Tags = readonly SchemaTags[] | null | undefined

function tagChange(add: Tags, remove: Tags): TagChange | undefined {
  return add?.length || remove?.length ? { add: add ?? [], remove: remove ?? [] } : undefined
}
