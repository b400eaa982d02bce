import { createRequire } from 'node:module'
import { Ajv, type ErrorObject, type KeywordDefinition, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import Ajv04Module from 'ajv-draft-04'
import { ecmaPattern } from '../../regex/pattern.ts'
import { SchemaError } from '../schema-error.ts'
import { type Dialect, type Draft, dialectOf } from './dialect.ts'
import { baseUriOf, NO_BASE, resolveUri, withoutHash } from './references.ts'
import type { PlainJson, PlainJsonObject } from './schema-model.ts'
import { digestOf } from './value-digest.ts'

type Validator = Pick<Ajv, 'validateSchema' | 'errors' | 'addSchema' | 'compile' | 'removeKeyword' | 'addKeyword'>

// The `$id`s of user schemas must not be cached. The loader checks what the meta-schemas express as formats.
const OPTIONS: Options = {
  strict: false,
  validateFormats: false,
  logger: false,
  addUsedSchema: false,
  code: { regExp: Object.assign(ecmaPattern, { code: 'ecmaPattern' }) },
}

/** Replaces ajv's `uniqueItems`, which compares every pair: an `enum`, or an array in data, can have 100,000 values. */
const UNIQUE_ITEMS: KeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (isAsked: boolean, items: readonly PlainJson[]) =>
    !isAsked || new Set(items.map(digestOf)).size === items.length,
  error: { message: 'must NOT have duplicate items' },
}

function withDigests(validator: Validator): Validator {
  validator.removeKeyword('uniqueItems').addKeyword(UNIQUE_ITEMS)
  return validator
}

const requireJson = createRequire(import.meta.url)
const MAKERS: Readonly<Record<Draft, (more?: Options) => Validator>> = {
  'draft-04': (more) => new Ajv04Module.default({ ...OPTIONS, ...more }) as unknown as Validator,
  'draft-06': (more) => {
    const ajv = new Ajv({ ...OPTIONS, ...more })
    ajv.addMetaSchema(requireJson('ajv/dist/refs/json-schema-draft-06.json'))
    return ajv
  },
  'draft-07': (more) => new Ajv({ ...OPTIONS, ...more }),
  '2019-09': (more) => new Ajv2019({ ...OPTIONS, ...more }),
  '2020-12': (more) => new Ajv2020({ ...OPTIONS, ...more }),
}
const validators = new Map<Draft, Validator>()

/** Throws a `SchemaError` with path and reason if a keyword has a value that the draft does not allow. */
export function checkMetaSchema(schema: PlainJson, { draft }: Dialect): void {
  let validator = validators.get(draft)
  if (!validator) {
    validator = withDigests(MAKERS[draft]())
    validators.set(draft, validator)
  }
  if (validator.validateSchema(spelled(schema, draft) as object) !== true)
    throw new SchemaError(describe(validator.errors ?? [], draft))
}

/** Returns the reason why a value is invalid, or undefined if it is valid. */
export type ValueCheck = (value: unknown) => string | undefined

/** Compiles a schema. `references` are the documents that its `$ref`s name, of any draft. Throws a `SchemaError`. */
export function compileJsonSchema(schema: PlainJson, references: ReadonlyMap<string, PlainJson>): ValueCheck {
  const { validator, draft, root } = openValidator(schema, references)
  return compiled(validator, { $ref: root }, draft)
}

/**
 * Returns a function that compiles a part of the schema. The part must be an object in `root` or in `references`,
 * compared by identity. Both functions throw a `SchemaError`.
 */
export function compileSubschemas(
  schema: PlainJson,
  references: ReadonlyMap<string, PlainJson>,
): (part: PlainJson) => ValueCheck {
  const { validator, draft, root, uris } = openValidator(schema, references)
  const places = new Map<PlainJson, string>()
  locateParts(schema, `${root}#`, places)
  for (const [name, document] of references) locateParts(document, `${uris.get(name)}#`, places)
  return (part) => compiled(validator, { $ref: places.get(part) ?? '' }, draft)
}

function locateParts(part: PlainJson, place: string, places: Map<PlainJson, string>): void {
  if (part === null || typeof part !== 'object') return
  places.set(part, place)
  for (const [name, inner] of Object.entries(part)) {
    const step = encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
    locateParts(inner, `${place}/${step}`, places)
  }
}

type OpenValidator = {
  readonly validator: Validator
  readonly draft: Draft
  /** The URI of the schema. */
  readonly root: string
  /** The URI of each reference, by name. */
  readonly uris: ReadonlyMap<string, string>
}

/** Creates a validator with a schema and its references, under the URIs of `Documents`. Throws a `SchemaError`. */
function openValidator(schema: PlainJson, references: ReadonlyMap<string, PlainJson>): OpenValidator {
  const dialect = dialectOf(schema)
  const { draft } = dialect
  // A new validator for each schema: it keeps everything it compiled, and two schemas can use the same name for
  // different things. `checkMetaSchema` has the compiled meta-schemas, whose compilation takes longer than that of most
  // schemas.
  const validator = withDigests(MAKERS[draft]({ validateSchema: false, ownProperties: true }))
  // In ajv, this keyword of draft-04 throws in other drafts.
  if (draft !== 'draft-04') validator.removeKeyword('id')
  for (const one of [schema, ...references.values()]) checkMetaSchema(one, dialect)
  try {
    const root = withoutHash(baseUriOf(schema, NO_BASE))
    const uris = new Map([...references.keys()].map((name) => [name, withoutHash(resolveUri(name, root))]))
    const documents = new Map([[root, document(schema, dialect)]])
    for (const [name, uri] of uris) documents.set(uri, documents.get(uri) ?? document(references.get(name)!, dialect))
    for (const [name, uri] of uris) {
      const own = withoutHash(baseUriOf(references.get(name)!, uri))
      documents.set(own, documents.get(own) ?? documents.get(uri)!)
    }
    for (const [uri, one] of documents) validator.addSchema(one as object, uri)
    return { validator, draft, root, uris }
  } catch (error) {
    throw new SchemaError((error as Error).message, { cause: error })
  }
}

/**
 * A document for ajv, which gets its URI beside it: two documents may have the same `$id`. With `$async`, ajv would create a
 * validator that returns promises.
 */
function document(schema: PlainJson, { draft, idKeyword }: Dialect): PlainJson {
  if (typeof schema !== 'object' || schema === null) return schema
  const { $async: _, [idKeyword]: __, ...rest } = spelled(schema, draft) as PlainJsonObject
  return rest
}

function compiled(validator: Validator, schema: PlainJson, draft: Draft): ValueCheck {
  try {
    const validate = validator.compile(schema as object)
    return (value) => {
      try {
        return validate(value) ? undefined : describe(validate.errors ?? [], draft)
      } catch (error) {
        if (error instanceof RangeError) return `the value is nested too deeply: ${error.message}`
        throw error
      }
    }
  } catch (error) {
    throw new SchemaError((error as Error).message, { cause: error })
  }
}

/** Replaces `$schema` by the URI that the draft's validator knows; each validator knows only its own draft. */
function spelled(schema: PlainJson, draft: Draft): PlainJson {
  const names = typeof schema === 'object' && schema !== null && '$schema' in schema
  return names ? { ...schema, $schema: META[draft] } : schema
}

/** The URI of each draft in its validator. Schemas also use variants with https and without the hash. */
const META: Readonly<Record<Draft, string>> = {
  'draft-04': 'http://json-schema.org/draft-04/schema#',
  'draft-06': 'http://json-schema.org/draft-06/schema#',
  'draft-07': 'http://json-schema.org/draft-07/schema#',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
}

function describe(errors: readonly ErrorObject[], draft: Draft): string {
  // All branches of an `anyOf` report errors. The deepest error is the most useful one.
  const [first] = [...errors].sort((a, b) => b.instancePath.length - a.instancePath.length)
  if (!first) return `not valid under ${draft}`
  const allowed = 'allowedValues' in first.params ? `: ${(first.params['allowedValues'] as string[]).join(', ')}` : ''
  return `#${first.instancePath} ${first.message ?? 'is invalid'}${allowed} (${draft})`
}
