import { createRequire } from 'node:module'
import type { Draft } from './dialect.ts'
import type { PlainJson } from './schema-model.ts'

const requireJson = createRequire(import.meta.url)

const OLD = /^https?:\/\/json-schema\.org\/(draft-0[467])\/schema$/
const MODERN = /^https?:\/\/json-schema\.org\/draft\/(2019-09|2020-12)\/(schema|meta\/[a-z-]+)$/

/** The meta-schema with this URI, as published; undefined if none of the drafts has it. */
export function standardMetaSchema(uri: string): PlainJson | undefined {
  const [, old] = OLD.exec(uri) ?? []
  if (old === 'draft-04') return requireJson('ajv-draft-04/dist/refs/json-schema-draft-04.json') as PlainJson
  if (old !== undefined) return requireJson(`ajv/dist/refs/json-schema-${old}.json`) as PlainJson
  const [, modern, path] = MODERN.exec(uri) ?? []
  if (modern === undefined) return undefined
  try {
    return requireJson(`ajv/dist/refs/json-schema-${modern}/${path}.json`) as PlainJson
  } catch {
    return undefined
  }
}

/** The URI of the meta-schema of each draft. */
export const META_SCHEMA_URI: Readonly<Record<Draft, string>> = {
  'draft-04': 'http://json-schema.org/draft-04/schema',
  'draft-06': 'http://json-schema.org/draft-06/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
}
