import { contextOf } from '../../formats/qualified-subject.ts'
import type { SchemaReference } from '../../formats/references.ts'
import type { SchemaTags } from '../../formats/tags.ts'
import type { ResponseBody } from '../../http/endpoint.ts'
import type { SchemaContent, SchemaVersion } from '../model/schema.ts'
import { toSubject } from '../model/subject.ts'
import type { Config } from '../model/subject-config.ts'
import type { StoredSchema } from '../store/registry-record.ts'
import type { registeredSchema, schema, schemaById, updatedConfig } from './entities.ts'

/** The Confluent version that responses match: up to 7.9, or 8.0 and later. */
export type ResponseProfile = '7' | '8'

export type SchemaResponseOptions = {
  readonly profile: ResponseProfile
  /** Qualifies the subject of each reference with its context. */
  readonly qualified?: boolean
  /** Replaces the stored text if the request has a `format`. */
  readonly text?: string
  /** The tags that match `findTags`; undefined shows the stored tags. */
  readonly tags?: readonly SchemaTags[]
}

/** A version of a subject (Confluent's entity `Schema`). Members without a value are omitted. */
export function toSchemaResponse(version: SchemaVersion, options: SchemaResponseOptions): ResponseBody<typeof schema> {
  return {
    subject: version.subject,
    version: version.version,
    id: version.id,
    ...membersOfProfile8(options, { guid: version.content.guid }),
    ...typeMember(version.content, options),
    ...optionalMembers(version, options),
    schema: options.text ?? version.content.text,
    ...tagsMember(version, options),
    ...membersOfProfile8(options, recordMembers(version)),
  }
}

/**
 * A schema that was requested by ID or GUID (Confluent's entity `SchemaString`). `withSubject` adds subject and version;
 * it is true if the request names a subject or a context.
 */
export function toSchemaByIdResponse(
  version: SchemaVersion,
  options: SchemaResponseOptions & { readonly withSubject: boolean; readonly maxId: number | undefined },
): ResponseBody<typeof schemaById> {
  return {
    ...(options.withSubject ? { subject: version.subject, version: version.version } : {}),
    ...membersOfProfile8(options, { guid: version.content.guid }),
    ...typeMember(version.content, options),
    schema: options.text ?? version.content.text,
    ...optionalMembers(version, options),
    ...tagsMember(version, options),
    ...(options.maxId === undefined ? {} : { maxId: options.maxId }),
    ...membersOfProfile8(options, recordMembers(version)),
  }
}

/** Version 7 returns only the ID, unless the registry changed the sent schema. */
export function toRegisterResponse(
  schema: StoredSchema,
  options: SchemaResponseOptions & { readonly changed: boolean },
): ResponseBody<typeof registeredSchema> {
  if (options.profile === '7' && !options.changed) return { id: schema.id }
  return {
    id: schema.id,
    version: schema.version,
    ...membersOfProfile8(options, { guid: schema.content.guid }),
    ...typeMember(schema.content, options),
    ...optionalMembers(schema, options),
    schema: options.text ?? schema.content.text,
  }
}

/** The response of `PUT /config`, where the level is named `compatibility` instead of `compatibilityLevel`. */
export function toConfigUpdateResponse({ compatibilityLevel, ...rest }: Config): ResponseBody<typeof updatedConfig> {
  return { ...rest, ...(compatibilityLevel === undefined ? {} : { compatibility: compatibilityLevel }) }
}

function membersOfProfile8<Members extends object>(options: SchemaResponseOptions, members: Members): Partial<Members> {
  return options.profile === '8' ? members : {}
}

function typeMember({ type }: SchemaContent, options: SchemaResponseOptions) {
  return options.profile === '8' || type !== 'AVRO' ? { schemaType: type } : {}
}

function optionalMembers({ content, subject }: StoredSchema, options: SchemaResponseOptions) {
  const { references, metadata, ruleSet } = content
  return {
    ...(references.length === 0
      ? {}
      : { references: options.qualified ? references.map((one) => qualified(one, contextOf(subject))) : references }),
    ...(metadata && Object.keys(metadata).length > 0 ? { metadata } : {}),
    ...(ruleSet && Object.keys(ruleSet).length > 0 ? { ruleSet } : {}),
  }
}

function qualified(reference: SchemaReference, context: string): SchemaReference {
  return { ...reference, subject: toSubject(reference.subject, context) }
}

function tagsMember(
  { extra }: SchemaVersion,
  options: SchemaResponseOptions,
): { readonly schemaTags?: readonly SchemaTags[] } {
  const tags = options.tags ?? (extra['schemaTags'] as readonly SchemaTags[] | undefined)
  return Array.isArray(tags) && tags.length > 0 ? { schemaTags: tags } : {}
}

function recordMembers({ timestampMs, deleted }: SchemaVersion) {
  return { ts: timestampMs, ...(deleted ? { deleted: true } : {}) }
}
