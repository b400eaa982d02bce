import type { CompareOptions, Incompatibility } from '../format.ts'
import {
  type AvroEnum,
  type AvroField,
  type AvroFixed,
  type AvroNamed,
  type AvroRecord,
  type AvroSchema,
  isNamed,
} from './schema.ts'

/** What Java's `SchemaCompatibility` calls them; verbose answers carry these words. */
export type AvroFinding =
  | 'NAME_MISMATCH'
  | 'FIXED_SIZE_MISMATCH'
  | 'MISSING_ENUM_SYMBOLS'
  | 'READER_FIELD_MISSING_DEFAULT_VALUE'
  // Java gives up here; this is our word for it.
  | 'READER_FIELD_AMBIGUOUS'
  | 'TYPE_MISMATCH'
  | 'MISSING_UNION_BRANCH'

/** Which writers' types a reader takes besides its own: Avro's promotions. */
const PROMOTIONS: Readonly<Record<string, readonly string[]>> = {
  long: ['int'],
  float: ['int', 'long'],
  double: ['int', 'long', 'float'],
  bytes: ['string'],
  string: ['bytes'],
}

/**
 * Why `reader` can't read what `writer` wrote, in the reader's order; paths are JSON pointers into the reader. Names
 * compare without their namespaces.
 */
export function avroIncompatibilities(
  reader: AvroSchema,
  writer: AvroSchema,
  roles: CompareOptions['roles'],
): readonly Incompatibility[] {
  const findings = compareAt(new Map(), reader, writer, [])
  return findings.map(({ type, path, info }) => ({
    type,
    path,
    message: `{errorType:'${type}', description:'${describe(type, path, info, roles)}', additionalInfo:'${info}'}`,
  }))
}

type Finding = { readonly type: AvroFinding; readonly path: string; readonly info: string }
type Path = readonly (string | number)[]
/** Verdicts of pairs seen before. A pair that is still being compared counts as compatible: recursive types end there. */
type Verdicts = Map<AvroSchema, Map<AvroSchema, readonly Finding[]>>

function finding(type: AvroFinding, at: Path, info: string): Finding {
  return { type, path: `/${at.join('/')}`, info }
}

function compareAt(verdicts: Verdicts, reader: AvroSchema, writer: AvroSchema, at: Path): readonly Finding[] {
  const ofReader = verdicts.get(reader) ?? new Map<AvroSchema, readonly Finding[]>()
  verdicts.set(reader, ofReader)
  const known = ofReader.get(writer)
  if (known) return known
  ofReader.set(writer, [])
  const found = compare(verdicts, reader, writer, at)
  ofReader.set(writer, found)
  return found
}

function compare(verdicts: Verdicts, reader: AvroSchema, writer: AvroSchema, at: Path): readonly Finding[] {
  if (writer.type === 'union') return compareWriterUnion(verdicts, reader, writer.branches, at)
  if (reader.type === 'union') return compareReaderUnion(verdicts, reader.branches, writer, at)
  if (reader.type === 'array' && writer.type === 'array') {
    return compareAt(verdicts, reader.items, writer.items, [...at, 'items'])
  }
  if (reader.type === 'map' && writer.type === 'map') {
    return compareAt(verdicts, reader.values, writer.values, [...at, 'values'])
  }
  if (isNamed(reader) && isNamed(writer) && reader.type === writer.type) {
    return compareNamed(verdicts, reader, writer, at)
  }
  if (reader.type === writer.type || PROMOTIONS[reader.type]?.includes(writer.type)) return []
  return [finding('TYPE_MISMATCH', at, `reader type: ${word(reader)} not compatible with writer type: ${word(writer)}`)]
}

/** Every branch that may have been written has to be readable. */
function compareWriterUnion(
  verdicts: Verdicts,
  reader: AvroSchema,
  branches: readonly AvroSchema[],
  at: Path,
): readonly Finding[] {
  if (reader.type !== 'union') {
    return branches.flatMap((branch, index) => compareAt(verdicts, reader, branch, [...at, index]))
  }
  return branches.flatMap((branch, index) =>
    compareAt(verdicts, reader, branch, [...at, index]).length === 0
      ? []
      : [finding('MISSING_UNION_BRANCH', [...at, index], `reader union lacking writer type: ${word(branch)}`)],
  )
}

function compareReaderUnion(
  verdicts: Verdicts,
  branches: readonly AvroSchema[],
  writer: AvroSchema,
  at: Path,
): readonly Finding[] {
  if (branches.some((branch) => compareAt(verdicts, branch, writer, at).length === 0)) return []
  return [finding('MISSING_UNION_BRANCH', at, `reader union lacking writer type: ${word(writer)}`)]
}

function compareNamed(verdicts: Verdicts, reader: AvroNamed, writer: AvroNamed, at: Path): readonly Finding[] {
  const name = sameName(reader, writer)
    ? []
    : [finding('NAME_MISMATCH', [...at, 'name'], `expected: ${writer.name.full}`)]
  if (reader.type === 'fixed') return [...name, ...compareSizes(reader, writer as AvroFixed, at)]
  if (reader.type === 'enum') return [...name, ...compareSymbols(reader, writer as AvroEnum, at)]
  return [...name, ...compareFields(verdicts, reader, writer as AvroRecord, at)]
}

function sameName(reader: AvroNamed, writer: AvroNamed): boolean {
  return reader.name.simple === writer.name.simple || reader.aliases.some(({ full }) => full === writer.name.full)
}

function compareSizes(reader: AvroFixed, writer: AvroFixed, at: Path): readonly Finding[] {
  if (reader.size === writer.size) return []
  return [finding('FIXED_SIZE_MISMATCH', [...at, 'size'], `expected: ${writer.size}, found: ${reader.size}`)]
}

function compareSymbols(reader: AvroEnum, writer: AvroEnum, at: Path): readonly Finding[] {
  const missing = writer.symbols.filter((symbol) => !reader.symbols.includes(symbol)).sort()
  if (missing.length === 0 || reader.default !== undefined) return []
  return [finding('MISSING_ENUM_SYMBOLS', [...at, 'symbols'], `[${missing.join(', ')}]`)]
}

function compareFields(verdicts: Verdicts, reader: AvroRecord, writer: AvroRecord, at: Path): readonly Finding[] {
  const written = new Map(writer.fields.map((field) => [field.name, field]))
  return reader.fields.flatMap((field, index) => {
    const place = [...at, 'fields', index]
    const sources = writtenFields(field, written)
    if (sources.length > 1) return [finding('READER_FIELD_AMBIGUOUS', place, field.name)]
    if (sources[0]) return compareAt(verdicts, field.schema, sources[0].schema, [...place, 'type'])
    if (field.default !== undefined) return []
    // Java compares an enum that has a default of its own with the record around it, which never fits.
    const isOpenEnum = field.schema.type === 'enum' && field.schema.default !== undefined
    if (isOpenEnum) return compareAt(verdicts, field.schema, writer, [...place, 'type'])
    return [finding('READER_FIELD_MISSING_DEFAULT_VALUE', place, field.name)]
  })
}

/** What a field may be filled from: more than one when its aliases name several of the writer's fields. */
function writtenFields(field: AvroField, written: ReadonlyMap<string, AvroField>): readonly AvroField[] {
  return [...new Set([field.name, ...field.aliases])].flatMap((name) => written.get(name) ?? [])
}

function word(schema: AvroSchema): string {
  return schema.type.toUpperCase()
}

function describe(type: AvroFinding, path: string, info: string, { reader, writer }: CompareOptions['roles']): string {
  switch (type) {
    case 'FIXED_SIZE_MISMATCH':
      return `The size of FIXED type field at path '${path}' in the ${reader} schema does not match with the ${writer} schema`
    case 'TYPE_MISMATCH':
      return `The type (path '${path}') of a field in the ${reader} schema does not match with the ${writer} schema`
    case 'NAME_MISMATCH':
      return `The name of the schema has changed (path '${path}')`
    case 'MISSING_ENUM_SYMBOLS':
      return `The ${reader} schema is missing enum symbols '${info}' at path '${path}' in the ${writer} schema`
    case 'MISSING_UNION_BRANCH':
      return `The ${reader} schema is missing a type inside a union field at path '${path}' in the ${writer} schema`
    case 'READER_FIELD_AMBIGUOUS':
      return `The field '${info}' at path '${path}' in the ${reader} schema matches several fields of the ${writer} schema`
    case 'READER_FIELD_MISSING_DEFAULT_VALUE':
      return `The field '${info}' at path '${path}' in the ${reader} schema has no default value and is missing in the ${writer} schema`
  }
}
