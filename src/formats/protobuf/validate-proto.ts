import { ProtoSyntaxError } from './lexer.ts'
import type { Enum, Message, ProtoField, ProtoFile, Ranges, TypeElement } from './proto-file.ts'
import { TAG_MAX } from './proto-file.ts'

/** Checks the semantics of a file. Throws a `ProtoSyntaxError` for duplicate, reserved or invalid names and numbers. */
export function validateProto(file: ProtoFile): void {
  checkTypes(file, file.types, file.packageName ?? '')
  distinct(
    file.services.map(({ name }) => name),
    (name) => `the service '${name}' is declared twice`,
  )
}

function checkTypes(file: ProtoFile, types: readonly TypeElement[], path: string): void {
  distinct(
    types.map(({ name }) => name),
    (name) => `'${name}' is declared twice${path === '' ? '' : ` in ${path}`}`,
  )
  for (const type of types) {
    const inner = path === '' ? type.name : `${path}.${type.name}`
    if (type.kind === 'enum') checkEnum(file, type, inner)
    else checkMessage(file, type, inner)
  }
}

function checkMessage(file: ProtoFile, message: Message, path: string): void {
  const fields: readonly Pick<ProtoField, 'name' | 'tag'>[] = [
    ...message.fields,
    ...message.groups,
    ...message.oneofs.flatMap((oneof) => [...oneof.fields, ...oneof.groups]),
  ]
  distinct(
    fields.map(({ name }) => name),
    (name) => `two fields of ${path} have the name '${name}'`,
  )
  distinct(
    fields.map(({ tag }) => tag),
    (tag) => `two fields of ${path} have the number ${tag}`,
  )
  const reserved = reservedIn(message.reserved)
  for (const field of fields) {
    const wrong = tagProblem(field.tag) ?? reservedProblem(field, reserved)
    if (wrong !== undefined) throw new ProtoSyntaxError(`the field '${field.name}' of ${path} ${wrong}`)
  }
  checkTypes(file, message.types, path)
}

function tagProblem(tag: number): string | undefined {
  if (tag < 1 || tag > TAG_MAX) return `has the number ${tag}: expected 1 to ${TAG_MAX}`
  return tag >= 19_000 && tag <= 19_999 ? `has the number ${tag}: 19000 to 19999 are reserved for Protobuf` : undefined
}

/** Reserved ranges. `starts` is sorted; `ends[i]` is the largest end of the first `i + 1` ranges. */
type Reserved = {
  readonly names: ReadonlySet<unknown>
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

function reservedIn(reserved: readonly Ranges[]): Reserved {
  const all = reserved.flat()
  const ranges = all
    .filter((range) => typeof range !== 'string')
    .map((range) => (typeof range === 'number' ? { from: range, to: range } : range))
    .sort((a, b) => a.from - b.from)
  let end = 0
  const ends = ranges.map(({ to }) => {
    end = Math.max(end, to)
    return end
  })
  return { names: new Set(all), starts: ranges.map(({ from }) => from), ends }
}

function reservedProblem({ name, tag }: Pick<ProtoField, 'name' | 'tag'>, reserved: Reserved): string | undefined {
  if (reserved.names.has(name)) return 'has a reserved name'
  let [low, high] = [0, reserved.starts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((reserved.starts[middle] ?? 0) <= tag) low = middle + 1
    else high = middle
  }
  return (reserved.ends[low - 1] ?? 0) >= tag ? `has the reserved number ${tag}` : undefined
}

function checkEnum(file: ProtoFile, element: Enum, path: string): void {
  if (element.constants.length === 0) throw new ProtoSyntaxError(`the enum ${path} has no constants`)
  if (file.syntax === 'proto3' && !hasZeroFirst(element)) {
    throw new ProtoSyntaxError(`the first constant of the enum ${path} must be 0 in proto3`)
  }
  distinct(
    element.constants.map(({ name }) => name),
    (name) => `two constants of ${path} have the name '${name}'`,
  )
  const allowsAlias = element.options.some(
    ({ name, value }) => name === 'allow_alias' && value.kind === 'word' && value.text === 'true',
  )
  if (!allowsAlias)
    distinct(
      element.constants.map(({ tag }) => tag),
      (tag) => `two constants of ${path} have the number ${tag}, without allow_alias`,
    )
}

/** Zero must be the first constant. In a normalized file, which is sorted by number, negative constants precede it. */
function hasZeroFirst({ constants }: Enum): boolean {
  return constants.find(({ tag }) => tag >= 0)?.tag === 0
}

function distinct<T>(values: readonly T[], message: (value: T) => string): void {
  const seen = new Set<T>()
  for (const value of values) {
    if (seen.has(value)) throw new ProtoSyntaxError(message(value))
    seen.add(value)
  }
}
