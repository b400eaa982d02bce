import type { CompareOptions, Incompatibility } from '../format.ts'
import { SchemaError } from '../schema-error.ts'
import {
  type AvroEnum,
  type AvroField,
  type AvroFixed,
  type AvroNamed,
  type AvroRecord,
  type AvroSchema,
  type AvroUnion,
  isNamed,
} from './avro-schema.ts'

/** The incompatibility types of Java's `SchemaCompatibility`, as in verbose responses. */
export type AvroFinding =
  | 'NAME_MISMATCH'
  | 'FIXED_SIZE_MISMATCH'
  | 'MISSING_ENUM_SYMBOLS'
  | 'READER_FIELD_MISSING_DEFAULT_VALUE'
  // Not a Java type: Java throws an exception in this case.
  | 'READER_FIELD_AMBIGUOUS'
  | 'TYPE_MISMATCH'
  | 'MISSING_UNION_BRANCH'

const FINDINGS_MAX = 1_000
/** The limit for pairs of named types. Two sets of recursive types can give every combination of their types. */
const PAIRS_MAX = 500_000
const DEPTH_MAX = 1_000
/**
 * Java compares every branch of a union, which affects only paths and ambiguous fields. In unions with more branches,
 * only branches with a matching name are compared.
 */
const BRANCHES_TRIED_MAX = 32

/** Avro's type promotions: the writer types that a reader type also accepts. */
const PROMOTIONS: Readonly<Record<string, readonly string[]>> = {
  long: ['int'],
  float: ['int', 'long'],
  double: ['int', 'long', 'float'],
  bytes: ['string'],
  string: ['bytes'],
}

/**
 * Returns the reasons why `reader` cannot read data of `writer`, in the order of the reader. Paths are JSON pointers
 * into the reader. Names are compared without their namespaces. Throws a `SchemaError` if the schemas are too complex
 * to compare.
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
   * The findings for pairs that were compared, with the path of the first comparison, as in Java. Only pairs with a
   * named type can occur more than once. A pair that is being compared counts as compatible, which ends the recursion.
   */
  readonly verdicts: Map<AvroSchema, Map<AvroSchema, readonly Finding[]>>
  readonly branches: Map<AvroUnion, Branches>
  /** The number of such pairs in total, and the current nesting of comparisons. */
  pairs: number
  depth: number
  /** Fails the whole comparison, even if another branch of a union matches. */
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
    throw new SchemaError('the schemas are too complex to compare: too many pairs of types')
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

/** The reader must be able to read every branch of the writer's union. */
function compareWriterUnion(
  walk: Walk,
  reader: AvroSchema,
  branches: readonly AvroSchema[],
  at: Path,
): readonly Finding[] {
  return gather(branches, (branch, index) => {
    const place = [...at, index]
    const found = compare(walk, reader, branch, place)
    // A missing branch is reported at every occurrence of the union.
    return reader.type === 'union' && found.length > 0 ? [missingBranch(branch, place)] : found
  })
}

function compareReaderUnion(walk: Walk, union: AvroUnion, writer: AvroSchema, at: Path): readonly Finding[] {
  // As in Java, paths inside a branch start at the branch.
  if (candidates(walk, union, writer).some((branch) => compare(walk, branch, writer, []).length === 0)) return []
  return [missingBranch(writer, at)]
}

function missingBranch(writer: AvroSchema, at: Path): Finding {
  return finding('MISSING_UNION_BRANCH', at, `reader union lacking writer type: ${word(writer)}`)
}

/** The branches of a union, indexed by the names of matching writer types. Unions can have thousands of records. */
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
    // Java compares an enum with a default with the enclosing record of the writer, which is never compatible.
    const isOpenEnum = field.schema.type === 'enum' && field.schema.default !== undefined
    if (isOpenEnum) return compare(walk, field.schema, writer, [...place, 'type'])
    return [finding('READER_FIELD_MISSING_DEFAULT_VALUE', place, field.name)]
  })
}

/** The writer's fields that match a field by name or alias. */
function writtenFields(field: AvroField, written: ReadonlyMap<string, AvroField>): readonly AvroField[] {
  if (field.aliases.length === 0) return [written.get(field.name) ?? []].flat()
  return [...new Set([field.name, ...field.aliases])].flatMap((name) => written.get(name) ?? [])
}

/** Collects the findings of all parts, up to `FINDINGS_MAX`, because shared types can multiply findings. */
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
