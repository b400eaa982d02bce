import { decimalNumber, normalizeOptions } from './normalize-options.ts'
import { type Scope, scopeOf } from './option-types.ts'
import type {
  Enum,
  EnumConstant,
  Extend,
  Extensions,
  Group,
  Message,
  OneOf,
  ProtoField,
  ProtoFile,
  Ranges,
  Rpc,
  Service,
  TypeElement,
} from './proto-file.ts'
import { isNumber, isScalar, mapTypes, type ProtoDependency } from './type-table.ts'

/** Thrown for a name that is neither declared in the file nor imported. */
export class UnresolvedType extends Error {
  override readonly name = 'UnresolvedType'
}

/**
 * Normalizes a file: sorts fields by number, constants by number and name, oneofs by their first field, options and
 * imports; splits ranges into statements; uses full type names with a leading dot; converts map entry messages to maps.
 * The order of messages is kept, because serialized data contains message indexes. Throws `UnresolvedType`.
 */
export function normalizeProto(file: ProtoFile, dependencies: readonly ProtoDependency[]): ProtoFile {
  const scope = scopeOf({ file, dependencies })
  return {
    // A file without a syntax statement is proto2.
    syntax: file.syntax === 'proto3' ? 'proto3' : undefined,
    packageName: file.packageName,
    imports: sortedUnique(file.imports),
    publicImports: sortedUnique(file.publicImports),
    options: normalizeOptions(file.options, scope),
    types: normalizeTypes(file.types, scope),
    extends: normalizeExtends(file.extends, scope),
    services: file.services.map((service) => normalizeService(service, scope)),
  }
}

function sortedUnique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort()
}

function byTag(a: { readonly tag: number }, b: { readonly tag: number }): number {
  return a.tag - b.tag
}

function normalizeTypes(types: readonly TypeElement[], scope: Scope): readonly TypeElement[] {
  const written = types.filter((type) => scope.types.find(type.name, scope.path)?.mapType === undefined)
  return written.map((type) => (type.kind === 'message' ? normalizeMessage(type, scope) : normalizeEnum(type, scope)))
}

function normalizeMessage(message: Message, outer: Scope): Message {
  const scope = { ...outer, path: [...outer.path, message.name] }
  return {
    kind: 'message',
    name: message.name,
    reserved: splitRanges(message.reserved),
    // A compiler resolves the names in the options of a message or an enum beside it, not in it.
    options: normalizeOptions(message.options, outer),
    fields: normalizeFields(message.fields, scope),
    oneofs: normalizeOneofs(message.oneofs, scope),
    groups: normalizeGroups(message.groups, scope),
    extensions: normalizeExtensions(message.extensions, outer),
    extends: normalizeExtends(message.extends, scope),
    types: normalizeTypes(message.types, scope),
  }
}

function normalizeFields(fields: readonly ProtoField[], scope: Scope): readonly ProtoField[] {
  return [...fields].sort(byTag).map((field) => {
    const type = normalizeType(field.type, scope)
    return {
      ...field,
      type,
      label: mapTypes(type) ? undefined : field.label,
      defaultValue:
        field.defaultValue === undefined || !isNumber(type) ? field.defaultValue : decimalNumber(field.defaultValue),
      options: normalizeOptions(field.options, scope),
    }
  })
}

function normalizeType(type: string, scope: Scope): string {
  const map = mapTypes(type) ?? mapTypes(isScalar(type) ? type : (find(type, scope).mapType ?? type))
  if (map) return `map<${map.key}, ${isScalar(map.value) ? map.value : fullName(map.value, scope)}>`
  return isScalar(type) ? type : fullName(type, scope)
}

function find(type: string, scope: Scope) {
  const found = scope.types.find(type, scope.path)
  if (found) return found
  const where = scope.path.length > 0 ? ` in ${scope.path.join('.')}` : ''
  throw new UnresolvedType(`the type '${type}'${where} is declared neither in the file nor in its imports`)
}

function fullName(type: string, scope: Scope): string {
  return `.${find(type, scope).fullName}`
}

function normalizeOneofs(oneofs: readonly OneOf[], scope: Scope): readonly OneOf[] {
  const firstTag = ({ fields, groups }: OneOf) => (fields[0] ?? groups[0])?.tag ?? 0
  return oneofs
    .filter(({ fields, groups }) => fields.length + groups.length > 0)
    .map((oneof) => ({
      name: oneof.name,
      options: normalizeOptions(oneof.options, scope),
      fields: normalizeFields(oneof.fields, scope),
      groups: normalizeGroups(oneof.groups, scope),
    }))
    .sort((a, b) => firstTag(a) - firstTag(b))
}

function normalizeGroups(groups: readonly Group[], outer: Scope): readonly Group[] {
  return [...groups].sort(byTag).map((group) => {
    const scope = { ...outer, path: [...outer.path, group.name] }
    return { ...group, fields: normalizeFields(group.fields, scope) }
  })
}

function normalizeEnum(element: Enum, scope: Scope): Enum {
  const constants = element.constants.map((constant) => ({
    ...constant,
    options: normalizeOptions(constant.options, scope),
  }))
  return {
    ...element,
    reserved: splitRanges(element.reserved),
    options: normalizeOptions(element.options, scope),
    constants: constants.sort((a: EnumConstant, b: EnumConstant) => byTag(a, b) || compareText(a.name, b.name)),
  }
}

function normalizeExtensions(extensions: readonly Extensions[], scope: Scope): readonly Extensions[] {
  return extensions
    .flatMap(({ ranges, options }) =>
      ranges.map((range) => ({ ranges: [single(range)], options: normalizeOptions(options, scope) })),
    )
    .sort((a, b) => firstNumber(a.ranges) - firstNumber(b.ranges))
}

/** Merges the `extend` blocks of the same message. */
function normalizeExtends(elements: readonly Extend[], scope: Scope): readonly Extend[] {
  const byName = Map.groupBy(elements, ({ name }) => fullName(name, scope))
  return [...byName].map(([name, same]) => ({
    name,
    fields: normalizeFields(
      same.flatMap(({ fields }) => fields),
      scope,
    ),
    groups: normalizeGroups(
      same.flatMap(({ groups }) => groups),
      scope,
    ),
  }))
}

/** Splits ranges into one statement each: numbers first, in ascending order, then names. */
function splitRanges(reserved: readonly Ranges[]): readonly Ranges[] {
  const each = reserved.flatMap((ranges) => ranges.map((range): Ranges => [single(range)]))
  return each.sort((a, b) => firstNumber(a) - firstNumber(b) || compareText(String(a[0]), String(b[0])))
}

function single(range: Ranges[number]): Ranges[number] {
  return typeof range === 'object' && range.from === range.to ? range.from : range
}

function firstNumber([range]: Ranges): number {
  if (typeof range === 'number') return range
  return typeof range === 'object' ? range.from : 2 ** 31 - 1
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function normalizeService(service: Service, scope: Scope): Service {
  const rpcs = service.rpcs.map(
    (rpc): Rpc => ({
      ...rpc,
      requestType: fullName(rpc.requestType, scope),
      responseType: fullName(rpc.responseType, scope),
      options: normalizeOptions(rpc.options, scope),
    }),
  )
  return { name: service.name, options: normalizeOptions(service.options, scope), rpcs }
}
