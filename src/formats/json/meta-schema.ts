import { createRequire } from 'node:module'
import { Ajv, type ErrorObject, type KeywordDefinition, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import Ajv04Module from 'ajv-draft-04'
import { ecmaPattern } from '../../regex/pattern.ts'
import { SchemaError } from '../format.ts'
import { type Dialect, type Draft, dialectOf } from './dialect.ts'
import { digestOf } from './digest.ts'
import type { PlainJson, PlainJsonObject } from './model.ts'

type Validator = Pick<Ajv, 'validateSchema' | 'errors' | 'addSchema' | 'compile' | 'removeKeyword' | 'addKeyword'>

// `$id`s of user schemas must not be remembered, and formats of the meta-schemas are the loader's business.
const OPTIONS: Options = {
  strict: false,
  validateFormats: false,
  logger: false,
  addUsedSchema: false,
  code: { regExp: Object.assign(ecmaPattern, { code: 'ecmaPattern' }) },
}

/** An `enum` may have 100,000 values; ajv would compare every two of them. */
const UNIQUE_ITEMS: KeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (isAsked: boolean, items: readonly PlainJson[]) =>
    !isAsked || new Set(items.map(digestOf)).size === items.length,
  error: { message: 'must NOT have duplicate items' },
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

/** Throws a `SchemaError` with path and reason when a keyword has a value that its draft does not allow. */
export function checkMetaSchema(schema: PlainJson, { draft }: Dialect): void {
  let validator = validators.get(draft)
  if (!validator) {
    validator = MAKERS[draft]()
    validator.removeKeyword('uniqueItems').addKeyword(UNIQUE_ITEMS)
    validators.set(draft, validator)
  }
  if (validator.validateSchema(spelled(schema, draft) as object) !== true)
    throw new SchemaError(describe(validator.errors ?? [], draft))
}

/** What is wrong with a value; undefined when nothing is. */
export type ValueCheck = (value: unknown) => string | undefined

/** Compiles a schema; `references` are what its `$ref`s name, of whatever draft. Throws a `SchemaError`. */
export function compileJsonSchema(schema: PlainJson, references: ReadonlyMap<string, PlainJson>): ValueCheck {
  const { validator, draft } = openValidator(schema, references)
  return compiled(validator, spelled(schema, draft), draft)
}

/** The name of a schema without an `$id`. Names of references are relative to it, as they are to nothing. */
const ROOT = 'root'

/**
 * Compiles parts of a schema, given as the very objects that stand in it or in its references. Both functions throw a
 * `SchemaError`.
 */
export function compileSubschemas(
  root: PlainJson,
  references: ReadonlyMap<string, PlainJson>,
): (part: PlainJson) => ValueCheck {
  const { validator, draft, id, uris } = openValidator(root, references)
  validator.addSchema(spelled(root, draft) as object, id ?? ROOT)
  const places = new Map<PlainJson, string>()
  locateParts(root, `${(id ?? ROOT).replace(/#$/, '')}#`, places)
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
  /** The `$id` of the schema. */
  readonly id: string | undefined
  /** Under which URI each reference was added. */
  readonly uris: ReadonlyMap<string, string>
}

/** A validator that knows the references of a schema. Throws a `SchemaError`. */
function openValidator(schema: PlainJson, references: ReadonlyMap<string, PlainJson>): OpenValidator {
  const dialect = dialectOf(schema)
  const { draft, idKeyword } = dialect
  // One of its own: what is compiled stays in it, and two schemas may give different things one name. The meta-schema is
  // asked where it is compiled already, which takes longer than most schemas.
  const validator = MAKERS[draft]({ validateSchema: false })
  for (const one of [schema, ...references.values()]) checkMetaSchema(one, dialect)
  const named = typeof schema === 'object' && schema !== null ? (schema as PlainJsonObject)[idKeyword] : undefined
  const id = typeof named === 'string' ? named : undefined
  const uris = new Map<string, string>()
  try {
    for (const [name, text] of references) {
      const uri = id !== undefined && URL.canParse(name, id) ? new URL(name, id).href : name
      validator.addSchema(spelled(text, draft) as object, uri)
      uris.set(name, uri)
    }
  } catch (error) {
    throw new SchemaError((error as Error).message, { cause: error })
  }
  return { validator, draft, id, uris }
}

function compiled(validator: Validator, schema: PlainJson, draft: Draft): ValueCheck {
  try {
    const validate = validator.compile(schema as object)
    return (value) => (validate(value) ? undefined : describe(validate.errors ?? [], draft))
  } catch (error) {
    throw new SchemaError((error as Error).message, { cause: error })
  }
}

/** Validators know only their own draft, under one name. */
function spelled(schema: PlainJson, draft: Draft): PlainJson {
  const names = typeof schema === 'object' && schema !== null && '$schema' in schema
  return names ? { ...schema, $schema: META[draft] } : schema
}

/** As each validator knows its draft: people write it with https, with and without the hash. */
const META: Readonly<Record<Draft, string>> = {
  'draft-04': 'http://json-schema.org/draft-04/schema#',
  'draft-06': 'http://json-schema.org/draft-06/schema#',
  'draft-07': 'http://json-schema.org/draft-07/schema#',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
}

function describe(errors: readonly ErrorObject[], draft: Draft): string {
  // Branches of anyOf fail together; the deepest finding is the one that helps.
  const [first] = [...errors].sort((a, b) => b.instancePath.length - a.instancePath.length)
  if (!first) return `not valid under ${draft}`
  const allowed = 'allowedValues' in first.params ? `: ${(first.params['allowedValues'] as string[]).join(', ')}` : ''
  return `#${first.instancePath} ${first.message ?? 'is wrong'}${allowed} (${draft})`
}
