import { isWord } from './lexer.ts'
import type {
  Enum,
  Extend,
  Extensions,
  Group,
  Message,
  OneOf,
  Option,
  OptionValue,
  ProtoField,
  ProtoFile,
  Ranges,
  Rpc,
  Service,
  TypeElement,
} from './proto-file.ts'
import { TAG_MAX } from './proto-file.ts'
import { quoteLiteral } from './string-literal.ts'

/**
 * Prints the canonical text of Confluent's registry: an indent of two spaces, a blank line between the sections of a
 * file and of a message, messages before enums. Ends with a line feed.
 */
export function printProto(file: ProtoFile): string {
  const head =
    (file.syntax ? `syntax = "${file.syntax}";\n` : '') +
    (file.packageName === undefined ? '' : `package ${file.packageName};\n`)
  const imports = [
    ...file.imports.map((path) => `import ${quoteLiteral(path)};\n`),
    ...file.publicImports.map((path) => `import public ${quoteLiteral(path)};\n`),
  ]
  return (
    head +
    sections([
      imports,
      file.options.map(printOptionStatement),
      printTypes(file.types),
      file.extends.map(printExtend),
      file.services.map(printService),
    ])
  )
}

/** Joins the sections that are not empty, each after a blank line. */
function sections(kinds: readonly (readonly string[])[]): string {
  return kinds.map((parts) => (parts.length === 0 ? '' : `\n${parts.join('')}`)).join('')
}

function block(head: string, kinds: readonly (readonly string[])[]): string {
  return `${head} {${sections(kinds.map((parts) => parts.map(indent)))}}\n`
}

function indent(text: string): string {
  return `  ${text.replace(/\n+$/, '').replaceAll('\n', '\n  ')}\n`
}

function printTypes(types: readonly TypeElement[]): readonly string[] {
  const messages = types.filter((type) => type.kind === 'message').map(printMessage)
  return [...messages, ...types.filter((type) => type.kind === 'enum').map(printEnum)]
}

function printMessage(message: Message): string {
  return block(`message ${message.name}`, [
    message.reserved.map(printReserved),
    message.options.map(printOptionStatement),
    message.fields.map(printField),
    message.oneofs.map(printOneof),
    message.groups.map(printGroup),
    message.extensions.map(printExtensions),
    message.extends.map(printExtend),
    printTypes(message.types),
  ])
}

function printEnum(element: Enum): string {
  const constants = element.constants.map(({ name, tag, options }) => `${name} = ${tag}${optionList(options)};\n`)
  // As in Confluent's registry, there is no blank line between the sections of an enum.
  return block(`enum ${element.name}`, [
    [...element.reserved.map(printReserved), ...element.options.map(printOptionStatement), ...constants],
  ])
}

function printField(field: ProtoField): string {
  const options: Option[] = [...field.options]
  if (field.defaultValue !== undefined) options.push(plain('default', defaultValue(field.type, field.defaultValue)))
  if (field.jsonName !== undefined) options.push(plain('json_name', { kind: 'string', text: field.jsonName }))
  return `${labelOf(field)}${field.type} ${field.name} = ${field.tag}${optionList(options)};\n`
}

function plain(name: string, value: OptionValue): Option {
  return { name, parenthesized: false, value }
}

/**
 * A default is quoted as in the source, or if it could not be parsed without. Confluent's registry does not quote the default
 * of a `bytes` field, which compilers reject.
 */
function defaultValue(type: string, text: string): OptionValue {
  return { kind: type === 'string' || type === 'bytes' || !isWord(text) ? 'string' : 'word', text }
}

function labelOf({ label }: ProtoField | Group): string {
  return label === undefined ? '' : `${label} `
}

function printOneof(oneof: OneOf): string {
  return block(`oneof ${oneof.name}`, [
    oneof.options.map(printOptionStatement),
    oneof.fields.map(printField),
    oneof.groups.map(printGroup),
  ])
}

function printGroup(group: Group): string {
  return block(`${labelOf(group)}group ${group.name} = ${group.tag}`, [group.fields.map(printField)])
}

function printExtend(extend: Extend): string {
  return block(`extend ${extend.name}`, [extend.fields.map(printField), extend.groups.map(printGroup)])
}

function printExtensions({ ranges, options }: Extensions): string {
  return `extensions ${printRanges(ranges)}${optionList(options)};\n`
}

function printReserved(ranges: Ranges): string {
  return `reserved ${printRanges(ranges)};\n`
}

function printRanges(ranges: Ranges): string {
  return ranges
    .map((range) => {
      if (typeof range === 'string') return quoteLiteral(range)
      if (typeof range === 'number') return String(range)
      return `${range.from} to ${range.to < TAG_MAX ? range.to : 'max'}`
    })
    .join(', ')
}

function printService(service: Service): string {
  return block(`service ${service.name}`, [service.options.map(printOptionStatement), service.rpcs.map(printRpc)])
}

function printRpc(rpc: Rpc): string {
  const side = (streaming: boolean, type: string) => `(${streaming ? 'stream ' : ''}${type})`
  const head = `rpc ${rpc.name} ${side(rpc.requestStreaming, rpc.requestType)} returns ${side(rpc.responseStreaming, rpc.responseType)}`
  const options = rpc.options.map(printOptionStatement).map(indent)
  return options.length === 0 ? `${head};\n` : `${head} {\n${options.join('')}};\n`
}

function printOptionStatement(option: Option): string {
  return `option ${printOption(option)};\n`
}

function optionList(options: readonly Option[]): string {
  return options.length === 0 ? '' : ` ${bracketed(options.map(printOption))}`
}

function printOption({ name, parenthesized, value }: Option): string {
  const written = parenthesized ? `(${name})` : name
  return value.kind === 'option' ? `${written}.${printOption(value.option)}` : `${written} = ${printValue(value)}`
}

function printValue(value: OptionValue): string {
  switch (value.kind) {
    case 'string':
      return quoteLiteral(value.text)
    case 'word':
      return value.text
    case 'option':
      return printOption(value.option)
    case 'list':
      return bracketed(value.items.map(printInside))
    case 'map': {
      const entries = [...value.entries].map(([key, entry]) => `${key}: ${printInside(entry)}`)
      return `{\n${lines(entries)}}`
    }
  }
}

/** Inside an aggregate value, a list is always printed on several lines. */
function printInside(value: OptionValue): string {
  return value.kind === 'list' ? `[\n${lines(value.items.map(printInside))}]` : printValue(value)
}

/** Prints one item on the same line, several items on separate lines. */
function bracketed(items: readonly string[]): string {
  if (items.length === 1) return `[${items[0]}]`
  return `[\n${lines(items)}]`
}

/** Prints each item on an indented line, separated by commas. */
function lines(items: readonly string[]): string {
  return items.map((item, at) => indent(at < items.length - 1 ? `${item},` : item)).join('')
}
