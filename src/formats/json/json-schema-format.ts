import type { CompareOptions, Format, Incompatibility, ParsedSchema, ParseOptions, SchemaSource } from '../format.ts'
import { SchemaError } from '../schema-error.ts'
import { type SchemaTags, type TagChange, tagsIn } from '../tags.ts'
import { canonicalJson, jsonTree, printTree } from './canonical-json.ts'
import { jsonSchemaChanges } from './compatibility.ts'
import { InvalidJsonSchema, loadJsonSchema } from './load-json-schema.ts'
import { checkMetaSchema } from './meta-schema.ts'
import { readJsonSchema } from './read-json-schema.ts'
import { describeChange } from './schema-change.ts'
import type { SchemaLocation } from './schema-location.ts'
import type { Model, PlainJson, PlainJsonObject } from './schema-model.ts'
import { UnresolvedReference } from './schema-resources.ts'
import { jsonEntities, tagJson } from './tags.ts'

/** JSON Schema, draft 4 to 2020-12. */
export const jsonFormat: Format = { type: 'JSON', parse: parseJsonSchema }

function parseJsonSchema(source: SchemaSource, options: ParseOptions = {}): ParsedSchema {
  const canonical = asSchemaError(() => canonicalJson(source.text))
  const root = JSON.parse(source.text) as PlainJson
  if (root === null || Array.isArray(root) || (typeof root !== 'object' && typeof root !== 'boolean')) {
    throw new SchemaError('a JSON schema must be an object or a boolean')
  }
  const schema = new JsonSchema(source, canonical, root)
  if (options.validation !== 'loose') {
    checkMetaSchema(schema.location())
    schema.model({ strict: true })
  }
  return schema
}

class JsonSchema implements ParsedSchema {
  readonly type = 'JSON'
  readonly canonical: string
  readonly name: string | undefined
  readonly fields: readonly string[]
  readonly #source: SchemaSource
  readonly #root: PlainJson
  #location: SchemaLocation | undefined
  #model: Model | undefined

  constructor(source: SchemaSource, canonical: string, root: PlainJson) {
    this.canonical = canonical
    this.#source = source
    this.#root = root
    const { title, properties } = (typeof root === 'object' ? root : {}) as PlainJsonObject
    this.name = typeof title === 'string' ? title : undefined
    this.fields = properties !== null && typeof properties === 'object' ? Object.keys(properties) : []
  }

  /** Read on first use: reading the topic does not need it. Throws a `SchemaError`. */
  location(): SchemaLocation {
    this.#location ??= readJsonSchema(this.#source)
    return this.#location
  }

  /** Built on first use. Throws a `SchemaError`. */
  model({ strict = false } = {}): Model {
    this.#model ??= asSchemaError(() => loadJsonSchema(this.location(), { strict }))
    return this.#model
  }

  /** Searches the parsed documents and not the texts, where a keyword can be written with escapes. */
  get hasPatterns(): boolean {
    try {
      return this.location().documents.some(({ value }) => hasPatternProperties(value))
    } catch {
      // A reference is not valid JSON. The comparison reports it.
      return true
    }
  }

  normalized(): ParsedSchema {
    return new JsonSchema(this.#source, canonicalJson(this.canonical, { sorted: true }), this.#root)
  }

  isEquivalent(other: ParsedSchema): boolean {
    return other.type === this.type && other.canonical === this.canonical
  }

  formatted(): string | undefined {
    return undefined
  }

  tags(): readonly SchemaTags[] {
    return tagsIn(jsonEntities(jsonTree(this.canonical)))
  }

  tagged(change: TagChange): string {
    const root = jsonTree(this.canonical)
    tagJson(root, change)
    return printTree(root)
  }

  incompatibilities(writer: ParsedSchema, { roles, policy }: CompareOptions): readonly Incompatibility[] {
    const changes = jsonSchemaChanges(
      (writer as JsonSchema).model(),
      this.model(),
      policy === 'LENIENT' ? 'LENIENT' : 'STRICT',
    )
    return changes.map((change) => {
      const description = describeChange(change).replace('%s', roles.reader).replace('%s', roles.writer)
      // The quotes do not match in Confluent's registry either.
      return {
        type: change.type,
        path: `#/${change.path}`,
        description,
        message: `{errorType:"${change.type}", description:"${description}'}`,
      }
    })
  }
}

function hasPatternProperties(document: PlainJson): boolean {
  const documents: PlainJson[] = [document]
  for (const one of documents) {
    if (one === null || typeof one !== 'object') continue
    if (Object.hasOwn(one, 'patternProperties')) return true
    for (const member of Object.values(one)) documents.push(member as PlainJson)
  }
  return false
}

function asSchemaError<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    const known =
      error instanceof SyntaxError || error instanceof InvalidJsonSchema || error instanceof UnresolvedReference
    throw known ? new SchemaError(error.message, { cause: error }) : error
  }
}
