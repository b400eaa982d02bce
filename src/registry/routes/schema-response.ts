import type { SchemaReference } from '../../formats/references.ts'
import type { SchemaTags } from '../../formats/tags.ts'
import type { Config } from '../model/config.ts'
import type { SchemaContent, SchemaVersion } from '../model/schema.ts'
import { contextOf, toSubject } from '../model/subject.ts'
import type { StoredSchema } from '../store/record.ts'

/** Whose answers clients get: the original's up to 7.9, or from 8.0 on. */
export type ResponseProfile = '7' | '8'

export type SchemaResponseOptions = {
  readonly profile: ResponseProfile
  /** Writes the context of each reference's subject. */
  readonly qualified?: boolean
  /** Stands for the stored text, when another form of it was asked for. */
  readonly text?: string
  /** Those that were asked for. */
  readonly tags?: readonly SchemaTags[]
}

/** A schema at its place (`Schema`). Members without a value are left out, as everywhere on this wire. */
export function toSchemaResponse(version: SchemaVersion, options: SchemaResponseOptions): object {
  return {
    subject: version.subject,
    version: version.version,
    id: version.id,
    ...newer(options, { guid: version.content.guid }),
    ...typeMember(version.content, options),
    ...additions(version, options),
    schema: options.text ?? version.content.text,
    ...tagsMember(version, options),
    ...newer(options, stamps(version)),
  }
}

/** What an id or a guid stands for (`SchemaString`). Subject and version are shown when the request named a subject or a context. */
export function toSchemaByIdResponse(
  version: SchemaVersion,
  options: SchemaResponseOptions & { readonly place: boolean; readonly maxId: number | undefined },
): object {
  return {
    ...(options.place ? { subject: version.subject, version: version.version } : {}),
    ...newer(options, { guid: version.content.guid }),
    ...typeMember(version.content, options),
    schema: options.text ?? version.content.text,
    ...additions(version, options),
    ...tagsMember(version, options),
    ...(options.maxId === undefined ? {} : { maxId: options.maxId }),
    ...newer(options, stamps(version)),
  }
}

/** The older line tells only the id, unless the registry added to what was sent. */
export function toRegisterResponse(
  schema: StoredSchema,
  options: SchemaResponseOptions & { readonly changed: boolean },
): object {
  if (options.profile === '7' && !options.changed) return { id: schema.id }
  return {
    id: schema.id,
    version: schema.version,
    ...newer(options, { guid: schema.content.guid }),
    ...typeMember(schema.content, options),
    ...additions(schema, options),
    schema: options.text ?? schema.content.text,
  }
}

/** `GET` and `DELETE` call the level `compatibilityLevel`, `PUT` calls it `compatibility`. */
export function toConfigUpdateResponse({ compatibilityLevel, ...rest }: Config): object {
  return { ...rest, ...(compatibilityLevel === undefined ? {} : { compatibility: compatibilityLevel }) }
}

function newer(options: SchemaResponseOptions, members: object): object {
  return options.profile === '8' ? members : {}
}

function typeMember({ type }: SchemaContent, options: SchemaResponseOptions): object {
  return options.profile === '8' || type !== 'AVRO' ? { schemaType: type } : {}
}

function additions({ content, subject }: StoredSchema, options: SchemaResponseOptions): object {
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

function tagsMember({ extra }: SchemaVersion, options: SchemaResponseOptions): object {
  const tags = options.tags ?? extra['schemaTags']
  return Array.isArray(tags) && tags.length > 0 ? { schemaTags: tags } : {}
}

function stamps({ timestampMs, deleted }: SchemaVersion): object {
  return { ts: timestampMs, ...(deleted ? { deleted: true } : {}) }
}
