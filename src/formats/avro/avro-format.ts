import type { CompareOptions, Format, Incompatibility, ParsedSchema } from '../format.ts'
import { parseJson } from '../json-text.ts'
import { SchemaError } from '../schema-error.ts'
import { type SchemaTags, type TagChange, tagsIn } from '../tags.ts'
import { type AvroNamed, type AvroSchema, isNamed } from './avro-schema.ts'
import { avroIncompatibilities } from './compatibility.ts'
import { avroEquivalent } from './equivalence.ts'
import { normalizeAvro } from './normalize.ts'
import { AvroParser } from './parser.ts'
import { NESTING_MAX, printAvro } from './printer.ts'
import { avroEntities, tagAvro } from './tags.ts'

/** Avro. Schemas are parsed, printed and compared as in the Java library 1.12. */
export const avroFormat: Format = {
  type: 'AVRO',
  parse: ({ text, dependencies = [] }, { validation = 'strict' } = {}) => {
    const parser = new AvroParser(validation === 'strict')
    const known = dependencies.map((dependency) => parser.parse(dependency.text)).filter(isNamed)
    return new ParsedAvro(parser.parse(text), known)
  },
}

export class ParsedAvro implements ParsedSchema {
  readonly hasPatterns = false
  readonly type = 'AVRO'
  readonly schema: AvroSchema
  readonly canonical: string
  /** Named types that references define. The canonical text contains only their names. */
  readonly #known: readonly AvroNamed[]

  constructor(schema: AvroSchema, known: readonly AvroNamed[] = []) {
    this.schema = schema
    this.#known = known
    this.canonical = printAvro(schema, known)
  }

  get name(): string | undefined {
    return this.schema.type === 'record' ? this.schema.name.full : undefined
  }

  get fields(): readonly string[] {
    return this.schema.type === 'record' ? this.schema.fields.map(({ name }) => name) : []
  }

  normalized(): ParsedSchema {
    return new ParsedAvro(normalizeAvro(this.schema), this.#known)
  }

  isEquivalent(other: ParsedSchema): boolean {
    return other instanceof ParsedAvro && avroEquivalent(this.schema, other.schema)
  }

  canEqual(text: string): boolean {
    const { schema } = this
    const names = schema.type === 'record' ? fieldNamesIn(text) : undefined
    if (schema.type !== 'record' || names === undefined) return true
    return names.length === schema.fields.length && schema.fields.every(({ name }, at) => name === names[at])
  }

  formatted(format: string): string | undefined {
    return format === 'resolved' ? printAvro(this.schema) : undefined
  }

  /** Includes the tags of types that references define. */
  tags(): readonly SchemaTags[] {
    return tagsIn(avroEntities(parseJson(printAvro(this.schema), { depthMax: NESTING_MAX })))
  }

  tagged(change: TagChange): string {
    return tagAvro(this.canonical, change)
  }

  incompatibilities(writer: ParsedSchema, { roles }: CompareOptions): readonly Incompatibility[] {
    if (!(writer instanceof ParsedAvro)) throw new SchemaError(`cannot compare an AVRO schema with ${writer.type}`)
    return avroIncompatibilities(this.schema, writer.schema, roles)
  }
}

/** The names of the fields of a record. Undefined if the text is another schema, or not JSON without comments. */
function fieldNamesIn(text: string): readonly unknown[] | undefined {
  try {
    const json: unknown = JSON.parse(text)
    const { type, fields } = Object(json) as { readonly type?: unknown; readonly fields?: unknown }
    if ((type !== 'record' && type !== 'error') || !Array.isArray(fields)) return undefined
    return fields.map((field: unknown) => (Object(field) as { readonly name?: unknown }).name)
  } catch {
    return undefined
  }
}
