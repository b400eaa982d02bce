import { type CompareOptions, type Incompatibility, SchemaError } from '../format.ts'
import {
  type AvroEnum,
  type AvroField,
  type AvroFixed,
  type AvroNamed,
  type AvroRecord,
  type AvroSchema,
  type AvroUnion,
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

const FINDINGS_MAX = 1_000
/** Two sets of types that go round in different ways meet in every pair of them: anybody's text must not hold us up. */
const PAIRS_MAX = 500_000
const DEPTH_MAX = 1_000
/** Java tries each branch of a union. That shows only in paths and in what is ambiguous; of more, we ask by name. */
const BRANCHES_TRIED_MAX = 32

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
  const walk: Walk = { verdicts: new Map(), branches: new Map(), pairs: 0, depth: 0 }
  const findings = compare(walk, reader, writer, [])
  return (walk.ambiguous ? [walk.ambiguous] : findings).map(({ type, path, info }) => {
    const description = describe(type, path, info, roles)
    const message = `{errorType:'${type}', description:'${description}', additionalInfo:'${info}'}`
    return { type, path, description, message }
  })
}

type Finding = { readonly type: AvroFinding; readonly path: string; readonly info: string }
type Path = readonly (string | number)[]

type Walk = {
  /**
   * Verdicts of pairs seen before, with the path at which they were first met, as Java has it. Only a pair with a named
   * type can be met again. One that is still being compared counts as compatible: recursive types end there.
   */
  readonly verdicts: Map<AvroSchema, Map<AvroSchema, readonly Finding[]>>
  readonly branches: Map<AvroUnion, Branches>
  /** How many such pairs were met, and how many are being compared inside each other. */
  pairs: number
  depth: number
  /** Fails the whole comparison, even if another branch of a union would do. */
  ambiguous?: Finding
}

function finding(type: AvroFinding, at: Path, info: string): Finding {
  return { type, path: `/${at.join('/')}`, info }
}

function compare(walk: Walk, reader: AvroSchema, writer: AvroSchema, at: Path): readonly Finding[] {
  if (!(isNamed(reader) || isNamed(writer))) return compareTypes(walk, reader, writer, at)
  const ofReader = walk.verdicts.get(reader) ?? new Map<AvroSchema, readonly Finding[]>()
  walk.verdicts.set(reader, ofReader)
  const known = ofReader.get(writer)
  if (known) return known
  ofReader.set(writer, [])
  walk.pairs += 1
  walk.depth += 1
  if (walk.pairs > PAIRS_MAX || walk.depth > DEPTH_MAX) {
    throw new SchemaError('the two schemas are too entangled to compare: their types meet in too many pairs')
  }
  const found = compareTypes(walk, reader, writer, at)
  walk.depth -= 1
  ofReader.set(writer, found)
  return found
}

function compareTypes(walk: Walk, reader: AvroSchema, writer: AvroSchema, at: Path): readonly Finding[] {
  if (writer.type === 'union') return compareWriterUnion(walk, reader, writer.branches, at)
  if (reader.type === 'union') return compareReaderUnion(walk, reader, writer, at)
  if (reader.type === 'array' && writer.type === 'array') {
    return compare(walk, reader.items, writer.items, [...at, 'items'])
  }
  if (reader.type === 'map' && writer.type === 'map') {
    return compare(walk, reader.values, writer.values, [...at, 'values'])
  }
  if (reader.type === 'record' && writer.type === 'record') {
    return [...compareNames(reader, writer, at), ...compareFields(walk, reader, writer, at)]
  }
  if (reader.type === 'enum' && writer.type === 'enum') {
    return [...compareNames(reader, writer, at), ...compareSymbols(reader, writer, at)]
  }
  if (reader.type === 'fixed' && writer.type === 'fixed') {
    return [...compareNames(reader, writer, at), ...compareSizes(reader, writer, at)]
  }
  if (reads(reader, writer)) return []
  return [finding('TYPE_MISMATCH', at, `reader type: ${word(reader)} not compatible with writer type: ${word(writer)}`)]
}

function reads(reader: AvroSchema, writer: AvroSchema): boolean {
  return reader.type === writer.type || PROMOTIONS[reader.type]?.includes(writer.type) === true
}

/** Every branch that may have been written has to be readable. */
function compareWriterUnion(
  walk: Walk,
  reader: AvroSchema,
  branches: readonly AvroSchema[],
  at: Path,
): readonly Finding[] {
  return gather(branches, (branch, index) => {
    const place = [...at, index]
    const found = compare(walk, reader, branch, place)
    // That a union lacks a branch is told anew wherever it is met.
    return reader.type === 'union' && found.length > 0 ? [missingBranch(branch, place)] : found
  })
}

function compareReaderUnion(walk: Walk, union: AvroUnion, writer: AvroSchema, at: Path): readonly Finding[] {
  // Paths of what a branch lacks begin at the branch, as Java's do.
  if (candidates(walk, union, writer).some((branch) => compare(walk, branch, writer, []).length === 0)) return []
  return [missingBranch(writer, at)]
}

function missingBranch(writer: AvroSchema, at: Path): Finding {
  return finding('MISSING_UNION_BRANCH', at, `reader union lacking writer type: ${word(writer)}`)
}

/** A union's branches by what a writer's type would have to be called: unions of thousands of records are real. */
type Branches = { readonly named: ReadonlyMap<string, readonly AvroNamed[]>; readonly others: readonly AvroSchema[] }

function branchesOf({ branches }: AvroUnion): Branches {
  const named = branches
    .filter(isNamed)
    .flatMap((branch) =>
      [branch.name.simple, ...branch.aliases.map(({ full }) => `=${full}`)].map((name) => [name, branch] as const),
    )
  const groups = Map.groupBy(named, ([name]) => name)
  return {
    named: new Map([...groups].map(([name, pairs]) => [name, pairs.map(([, branch]) => branch)])),
    others: branches.filter((branch) => !isNamed(branch)),
  }
}

function candidates(walk: Walk, union: AvroUnion, writer: AvroSchema): readonly AvroSchema[] {
  if (union.branches.length <= BRANCHES_TRIED_MAX) return union.branches
  const known = walk.branches.get(union) ?? branchesOf(union)
  walk.branches.set(union, known)
  const { named, others } = known
  if (!isNamed(writer)) return others
  return [...(named.get(writer.name.simple) ?? []), ...(named.get(`=${writer.name.full}`) ?? [])]
}

function compareNames(reader: AvroNamed, writer: AvroNamed, at: Path): readonly Finding[] {
  const isSame =
    reader.name.simple === writer.name.simple || reader.aliases.some(({ full }) => full === writer.name.full)
  return isSame ? [] : [finding('NAME_MISMATCH', [...at, 'name'], `expected: ${writer.name.full}`)]
}

function compareSizes(reader: AvroFixed, writer: AvroFixed, at: Path): readonly Finding[] {
  if (reader.size === writer.size) return []
  return [finding('FIXED_SIZE_MISMATCH', [...at, 'size'], `expected: ${writer.size}, found: ${reader.size}`)]
}

function compareSymbols(reader: AvroEnum, writer: AvroEnum, at: Path): readonly Finding[] {
  const known = new Set(reader.symbols)
  const missing = writer.symbols.filter((symbol) => !known.has(symbol)).sort()
  if (missing.length === 0 || reader.default !== undefined) return []
  return [finding('MISSING_ENUM_SYMBOLS', [...at, 'symbols'], `[${missing.join(', ')}]`)]
}

function compareFields(walk: Walk, reader: AvroRecord, writer: AvroRecord, at: Path): readonly Finding[] {
  const written = new Map(writer.fields.map((field) => [field.name, field]))
  return gather(reader.fields, (field, index) => {
    const place = [...at, 'fields', index]
    const sources = writtenFields(field, written)
    if (sources.length > 1) {
      walk.ambiguous ??= finding('READER_FIELD_AMBIGUOUS', place, field.name)
      return [walk.ambiguous]
    }
    if (sources[0]) return compare(walk, field.schema, sources[0].schema, [...place, 'type'])
    if (field.default !== undefined) return []
    // Java compares an enum that has a default of its own with the record around it, which never fits.
    const isOpenEnum = field.schema.type === 'enum' && field.schema.default !== undefined
    if (isOpenEnum) return compare(walk, field.schema, writer, [...place, 'type'])
    return [finding('READER_FIELD_MISSING_DEFAULT_VALUE', place, field.name)]
  })
}

/** What a field may be filled from: more than one when its aliases name several of the writer's fields. */
function writtenFields(field: AvroField, written: ReadonlyMap<string, AvroField>): readonly AvroField[] {
  return [...new Set([field.name, ...field.aliases])].flatMap((name) => written.get(name) ?? [])
}

/** The findings of all parts; no more than anybody reads, for types that share types multiply them. */
function gather<Part>(
  parts: readonly Part[],
  find: (part: Part, index: number) => readonly Finding[],
): readonly Finding[] {
  const found: Finding[] = []
  for (const [index, part] of parts.entries()) {
    found.push(...find(part, index))
    if (found.length >= FINDINGS_MAX) return found.slice(0, FINDINGS_MAX)
  }
  return found
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
