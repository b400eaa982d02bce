import type { Message, OneOf, ProtoField, ProtoFile, TypeElement } from './proto-file.ts'
import { isScalar, mapTypes, type ProtoDependency, splitName, type TypeInfo, TypeTable } from './type-table.ts'

/** The types of incompatible changes. The names are those of Confluent's registry. */
export type ProtoChangeType =
  | 'PACKAGE_CHANGED'
  | 'MESSAGE_REMOVED'
  | 'FIELD_KIND_CHANGED'
  | 'FIELD_SCALAR_KIND_CHANGED'
  | 'FIELD_NAMED_TYPE_CHANGED'
  | 'FIELD_NUMERIC_LABEL_CHANGED'
  | 'REQUIRED_FIELD_ADDED'
  | 'REQUIRED_FIELD_REMOVED'
  | 'ONEOF_FIELD_REMOVED'
  | 'MULTIPLE_FIELDS_MOVED_TO_ONEOF'
  | 'FIELD_MOVED_TO_EXISTING_ONEOF'

/** `path` consists of message names and field numbers: `#/Order/3`. */
export type ProtoChange = { readonly type: ProtoChangeType; readonly path: string }

/** A parsed file with all its direct and transitive imports. */
export type ProtoUnit = { readonly file: ProtoFile; readonly dependencies: readonly ProtoDependency[] }

/**
 * Returns the incompatible changes from `original` to `update`. Fields, including those in oneofs, are matched by
 * number, types by name. A change between scalar types of the same group is compatible.
 */
export function protobufChanges(original: ProtoUnit, update: ProtoUnit): readonly ProtoChange[] {
  const walk: Walk = {
    original: new TypeTable(original.file, original.dependencies),
    update: new TypeTable(update.file, update.dependencies),
    broke: new Map(),
    found: [],
  }
  const at: Place = {
    original: splitName(original.file.packageName ?? ''),
    update: splitName(update.file.packageName ?? ''),
    path: [],
  }
  if ((original.file.packageName ?? null) !== (update.file.packageName ?? null)) report(walk, at, 'PACKAGE_CHANGED')
  compareTypes(walk, at, original.file.types, update.file.types)
  return walk.found
}

type Walk = {
  readonly original: TypeTable
  readonly update: TypeTable
  /**
   * The compared pairs of messages, and whether they are incompatible. A pair that is being compared has the value
   * false, which ends the recursion. Each pair is reported once.
   */
  readonly broke: Map<Message, Map<Message, boolean>>
  readonly found: ProtoChange[]
}

/** The current position: the scopes in which names are resolved on both sides, and the path for messages. */
type Place = {
  readonly original: readonly string[]
  readonly update: readonly string[]
  readonly path: readonly string[]
}

function report(walk: Walk, at: Place, type: ProtoChangeType, ...steps: readonly string[]): void {
  walk.found.push({ type, path: `#/${[...at.path, ...steps].join('/')}` })
}

function enter(at: Place, name: string): Place {
  return { original: [...at.original, name], update: [...at.update, name], path: [...at.path, name] }
}

function step(at: Place, ...steps: readonly string[]): Place {
  return { ...at, path: [...at.path, ...steps] }
}

function compareTypes(walk: Walk, at: Place, original: readonly TypeElement[], update: readonly TypeElement[]): void {
  const updated = new Map(update.filter(isMessage).map((message) => [message.name, message]))
  // Changes of enums are compatible, because their values are encoded as integers.
  for (const message of original.filter(isMessage)) {
    const inner = enter(at, message.name)
    const same = updated.get(message.name)
    if (same) compareMessages(walk, inner, message, same)
    else if (walk.original.find(message.name, at.original)?.mapType === undefined)
      report(walk, inner, 'MESSAGE_REMOVED')
  }
}

function isMessage(type: TypeElement): type is Message {
  return type.kind === 'message'
}

/** Compares two messages, reports changes, and returns whether they are incompatible. */
function compareMessages(walk: Walk, at: Place, original: Message, update: Message): boolean {
  const ofOriginal = walk.broke.get(original) ?? new Map<Message, boolean>()
  walk.broke.set(original, ofOriginal)
  const known = ofOriginal.get(update)
  if (known !== undefined) return known
  ofOriginal.set(update, false)
  const count = walk.found.length
  const before = fieldsByTag(original)
  const after = fieldsByTag(update)
  compareOneofs(walk, at, before, update)
  const removedOneofs = findRemovedOneofs(original, update, after)
  for (const tag of [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => a - b)) {
    compareField(walk, at, before.get(tag), after.get(tag), removedOneofs)
  }
  compareTypes(walk, at, original.types, update.types)
  ofOriginal.set(update, walk.found.length > count)
  return walk.found.length > count
}

type Placed = { readonly field: ProtoField; readonly oneof: string | undefined }

function fieldsByTag(message: Message): ReadonlyMap<number, Placed> {
  const byTag = new Map<number, Placed>(message.fields.map((field) => [field.tag, { field, oneof: undefined }]))
  for (const { name, fields } of message.oneofs)
    for (const field of fields) byTag.set(field.tag, { field, oneof: name })
  return byTag
}

/** The oneofs that were removed with all their fields, which is compatible. */
function findRemovedOneofs(
  original: Message,
  update: Message,
  after: ReadonlyMap<number, Placed>,
): ReadonlySet<string> {
  const kept = new Set(update.oneofs.map(({ name }) => name))
  const removed = original.oneofs.filter(
    ({ name, fields }) => !kept.has(name) && !fields.some(({ tag }) => after.has(tag)),
  )
  return new Set(removed.map(({ name }) => name))
}

/** Fields that could be set together in the original must not be members of the same oneof. */
function compareOneofs(walk: Walk, at: Place, before: ReadonlyMap<number, Placed>, update: Message): void {
  for (const oneof of update.oneofs) {
    const { origins, movedIn } = originsOf(oneof, before)
    if (origins <= 1) continue
    report(walk, at, movedIn > 1 ? 'MULTIPLE_FIELDS_MOVED_TO_ONEOF' : 'FIELD_MOVED_TO_EXISTING_ONEOF', oneof.name)
  }
}

function originsOf(oneof: OneOf, before: ReadonlyMap<number, Placed>): { origins: number; movedIn: number } {
  const old = oneof.fields.flatMap(({ tag }) => before.get(tag) ?? [])
  const oneofs = new Set(old.flatMap(({ oneof: name }) => name ?? []))
  const movedIn = old.filter(({ oneof: name }) => name === undefined).length
  return { origins: oneofs.size + movedIn, movedIn }
}

function compareField(
  walk: Walk,
  at: Place,
  before: Placed | undefined,
  after: Placed | undefined,
  removedOneofs: ReadonlySet<string>,
): void {
  if (before && after) {
    const steps = after.oneof === undefined ? [] : [after.oneof]
    compareFieldTypes(walk, step(at, ...steps, String(after.field.tag)), before.field, after.field)
  } else if (before) {
    const tag = String(before.field.tag)
    if (before.oneof !== undefined) {
      if (!removedOneofs.has(before.oneof)) report(walk, at, 'ONEOF_FIELD_REMOVED', before.oneof, tag)
    } else if (before.field.label === 'required') report(walk, at, 'REQUIRED_FIELD_REMOVED', tag)
  } else if (after && after.oneof === undefined && after.field.label === 'required') {
    report(walk, at, 'REQUIRED_FIELD_ADDED', String(after.field.tag))
  }
}

type Typed = Pick<ProtoField, 'type' | 'label'>

function compareFieldTypes(walk: Walk, at: Place, original: Typed, update: Typed): void {
  const before = typeOf(walk.original, at.original, original.type)
  const after = typeOf(walk.update, at.update, update.type)
  if (before.kind !== after.kind) {
    report(walk, at, 'FIELD_KIND_CHANGED')
  } else if (before.kind === 'scalar' && after.kind === 'scalar') {
    compareScalars(walk, at, before.group, after.group, original.label, update.label)
  } else if (before.kind === 'map' && after.kind === 'map') {
    compareFieldTypes(walk, at, { type: before.key, label: undefined }, { type: after.key, label: undefined })
    compareFieldTypes(walk, at, { type: before.value, label: undefined }, { type: after.value, label: undefined })
  } else if (before.kind === 'message' && after.kind === 'message') {
    compareNamedTypes(walk, at, before, after)
  }
}

/** Scalar types in the same group have the same wire format. */
type ScalarGroup = 'number' | 'zigzag' | 'text' | 'fixed32' | 'fixed64' | 'float' | 'double'

const SCALAR_GROUPS: Readonly<Record<string, ScalarGroup>> = {
  int32: 'number',
  int64: 'number',
  uint32: 'number',
  uint64: 'number',
  bool: 'number',
  sint32: 'zigzag',
  sint64: 'zigzag',
  string: 'text',
  bytes: 'text',
  fixed32: 'fixed32',
  sfixed32: 'fixed32',
  fixed64: 'fixed64',
  sfixed64: 'fixed64',
  float: 'float',
  double: 'double',
}

type FieldType =
  | { readonly kind: 'scalar'; readonly group: ScalarGroup }
  | { readonly kind: 'map'; readonly key: string; readonly value: string }
  | { readonly kind: 'message'; readonly name: string; readonly info: TypeInfo | undefined }

function typeOf(types: TypeTable, scope: readonly string[], type: string): FieldType {
  if (isScalar(type)) return { kind: 'scalar', group: SCALAR_GROUPS[type] ?? 'number' }
  const info = mapTypes(type) ? undefined : types.find(type, scope)
  const map = mapTypes(info?.mapType ?? type)
  if (map) return { kind: 'map', ...map }
  if (info?.element.kind === 'enum') return { kind: 'scalar', group: 'number' }
  return { kind: 'message', name: type, info }
}

function compareScalars(
  walk: Walk,
  at: Place,
  before: ScalarGroup,
  after: ScalarGroup,
  was: ProtoField['label'],
  is: ProtoField['label'],
): void {
  if (before !== after) report(walk, at, 'FIELD_SCALAR_KIND_CHANGED')
  else if (was !== undefined && is !== undefined && was !== is && before !== 'text')
    report(walk, at, 'FIELD_NUMERIC_LABEL_CHANGED')
}

type Named = Extract<FieldType, { kind: 'message' }>

function compareNamedTypes(walk: Walk, at: Place, before: Named, after: Named): void {
  if (!before.info || !after.info) {
    if (before.name !== after.name) report(walk, at, 'FIELD_NAMED_TYPE_CHANGED')
    return
  }
  const local = localName(before.info)
  if (local !== localName(after.info)) {
    report(walk, at, 'FIELD_NAMED_TYPE_CHANGED')
    return
  }
  if (isSameSource(before.info, after.info)) return
  // The type was moved to another file, or the version of its reference changed: compare its structure.
  const inner: Place = {
    original: [...splitName(before.info.packageName), ...splitName(local)],
    update: [...splitName(after.info.packageName), ...splitName(local)],
    path: splitName(local),
  }
  const broke = compareMessages(walk, inner, before.info.element as Message, after.info.element as Message)
  if (broke) report(walk, at, 'FIELD_NAMED_TYPE_CHANGED')
}

function localName({ fullName, packageName }: TypeInfo): string {
  return fullName.startsWith(`${packageName}.`) ? fullName.slice(packageName.length + 1) : fullName
}

/**
 * Whether both types are from the file itself, whose types are compared separately, or from the same registered
 * version.
 */
function isSameSource({ origin: a }: TypeInfo, { origin: b }: TypeInfo): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b && a === 'file'
  return a.subject === b.subject && a.version === b.version
}
