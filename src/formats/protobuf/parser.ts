import { Lexer, type Token } from './lexer.ts'
import { parseFieldOptions, parseOption } from './option-parser.ts'
import type {
  Enum,
  EnumConstant,
  Extend,
  Group,
  Label,
  Message,
  Mutable,
  OneOf,
  Option,
  ProtoField,
  ProtoFile,
  Ranges,
  Rpc,
  Service,
  TypeElement,
} from './proto-file.ts'
import { emptyFile, SCOPES_MAX, TAG_MAX } from './proto-file.ts'
import { mapTypes, splitName } from './type-table.ts'

/** Parses a .proto file (proto2, proto3). Throws a `ProtoSyntaxError` with line and column. */
export function parseProto(text: string): ProtoFile {
  return new Parser(new Lexer(text)).file()
}

class Parser {
  readonly #lexer: Lexer
  #syntax: ProtoFile['syntax']
  #depth = 0

  constructor(lexer: Lexer) {
    this.#lexer = lexer
  }

  file(): ProtoFile {
    const lexer = this.#lexer
    const file = emptyFile()
    if (lexer.skip('syntax')) {
      file.syntax = this.#readSyntax()
      this.#syntax = file.syntax
    }
    while (lexer.peek().kind !== 'end') this.#fileElement(file)
    return file
  }

  #readSyntax(): ProtoFile['syntax'] {
    this.#lexer.expect('=')
    const at = this.#lexer.peek()
    const syntax = this.#lexer.string('proto2 or proto3')
    if (syntax !== 'proto2' && syntax !== 'proto3') this.#lexer.fail("expected the syntax 'proto2' or 'proto3'", at)
    this.#lexer.expect(';')
    return syntax
  }

  #fileElement(file: Mutable<ProtoFile>): void {
    if (this.#lexer.skip(';')) return
    const type = this.#nestedType()
    if (type) file.types.push(type)
    else if (this.#statement('package')) this.#package(file)
    else if (this.#statement('import')) this.#import(file)
    else if (this.#statement('option')) file.options.push(this.#optionStatement())
    else if (this.#statement('extend')) file.extends.push(this.#extend())
    else if (this.#statement('service')) file.services.push(this.#service())
    else if (this.#lexer.peek().text === 'edition')
      this.#lexer.fail("editions are not supported: expected syntax = 'proto2' or 'proto3'")
    else this.#lexer.fail('expected syntax, package, import, option, message, enum, extend or service')
  }

  #package(file: Mutable<ProtoFile>): void {
    if (file.packageName !== undefined) this.#lexer.fail('a file can have only one package')
    const at = this.#lexer.peek()
    file.packageName = this.#name('a package name')
    if (splitName(file.packageName).length > SCOPES_MAX) this.#lexer.fail(`more than ${SCOPES_MAX} parts`, at)
    this.#lexer.expect(';')
  }

  #import(file: Mutable<ProtoFile>): void {
    const isPublic = this.#lexer.skip('public')
    // A weak import is resolved like any other import.
    if (!isPublic) this.#lexer.skip('weak')
    const path = this.#lexer.string('a file')
    if (isPublic) file.publicImports.push(path)
    else file.imports.push(path)
    this.#lexer.expect(';')
  }

  #message(): Message {
    const name = this.#simpleName('a message name')
    const message: Mutable<Message> = {
      kind: 'message',
      name,
      reserved: [],
      options: [],
      fields: [],
      oneofs: [],
      groups: [],
      extensions: [],
      extends: [],
      types: [],
    }
    this.#block(() => this.#messageElement(message))
    return message
  }

  #messageElement(message: Mutable<Message>): void {
    const nested = this.#nestedType()
    if (nested) {
      message.types.push(nested)
      return
    }
    // A statement starts with one of these keywords; anything else is a field or a group.
    if (this.#statement('option')) message.options.push(this.#optionStatement())
    else if (this.#statement('reserved')) message.reserved.push(this.#ranges('a reserved number or name'))
    else if (this.#statement('extensions')) message.extensions.push(this.#extensions())
    else if (this.#statement('extend')) message.extends.push(this.#extend())
    else if (this.#statement('oneof')) message.oneofs.push(this.#oneof())
    else this.#fieldOrGroup(message)
  }

  #nestedType(): TypeElement | undefined {
    if (this.#statement('message')) return this.#message()
    if (this.#statement('enum')) return this.#enum()
    return undefined
  }

  #statement(word: string): boolean {
    return this.#lexer.peek().kind === 'word' && this.#lexer.skip(word)
  }

  #fieldOrGroup(into: { fields: ProtoField[]; groups: Group[] }, allowLabel = true): void {
    const at = this.#lexer.peek()
    const label = this.#label()
    if (label && !allowLabel) this.#lexer.fail('a member of a oneof cannot have a label', at)
    if (label === 'required' && this.#syntax === 'proto3')
      this.#lexer.fail('proto3 does not support required fields', at)
    if (this.#lexer.skip('group')) {
      if (this.#syntax === 'proto3') this.#lexer.fail('proto3 does not support groups', at)
      into.groups.push(this.#group(label))
      return
    }
    const field = this.#field(label)
    if (label && mapTypes(field.type)) this.#lexer.fail('a map cannot have a label', at)
    into.fields.push(field)
  }

  #label(): Label | undefined {
    for (const label of ['optional', 'required', 'repeated'] as const) if (this.#statement(label)) return label
    return undefined
  }

  #field(label: Label | undefined): ProtoField {
    const type = this.#type()
    const name = this.#simpleName('a field name')
    this.#lexer.expect('=')
    const tag = this.#integer('a field number')
    const written = parseFieldOptions(this.#lexer)
    this.#lexer.expect(';')
    const plain = (key: string) => written.find((option) => option.name === key && !option.parenthesized)
    return {
      label,
      type,
      name,
      tag,
      options: written.filter((option) => option !== plain('default') && option !== plain('json_name')),
      defaultValue: textOf(plain('default')),
      jsonName: textOf(plain('json_name')),
    }
  }

  #type(): string {
    const type = this.#typeName('a type')
    if (type !== 'map' || !this.#lexer.skip('<')) return type
    const key = this.#typeName('a key type')
    this.#lexer.expect(',')
    const value = this.#typeName('a value type')
    this.#lexer.expect('>')
    return `map<${key}, ${value}>`
  }

  #group(label: Label | undefined): Group {
    const name = this.#simpleName('a group name')
    this.#lexer.expect('=')
    const tag = this.#integer('a field number')
    const fields: ProtoField[] = []
    this.#block(() => {
      const at = this.#lexer.peek()
      const groups: Group[] = []
      this.#fieldOrGroup({ fields, groups })
      // As in Confluent's registry.
      if (groups.length > 0) this.#lexer.fail('a group cannot contain a group', at)
    })
    return { label, name, tag, fields }
  }

  #oneof(): OneOf {
    const oneof: Mutable<OneOf> = { name: this.#simpleName('a oneof name'), options: [], fields: [], groups: [] }
    this.#block(() => {
      if (this.#statement('option')) oneof.options.push(this.#optionStatement())
      else this.#fieldOrGroup(oneof, false)
    })
    return oneof
  }

  #extend(): Extend {
    const name = this.#name('the name of the extended message')
    const members: { fields: ProtoField[]; groups: Group[] } = { fields: [], groups: [] }
    this.#block(() => this.#fieldOrGroup(members))
    return { name, ...members }
  }

  #extensions() {
    const ranges = this.#rangeList('an extension number')
    const options = parseFieldOptions(this.#lexer)
    this.#lexer.expect(';')
    return { ranges, options }
  }

  #enum(): Enum {
    const element: Mutable<Enum> = {
      kind: 'enum',
      name: this.#simpleName('an enum name'),
      reserved: [],
      options: [],
      constants: [],
    }
    this.#block(() => {
      if (this.#statement('option')) element.options.push(this.#optionStatement())
      else if (this.#statement('reserved')) element.reserved.push(this.#ranges('a reserved number or name'))
      else element.constants.push(this.#constant())
    })
    return element
  }

  #constant(): EnumConstant {
    const name = this.#simpleName('a constant')
    this.#lexer.expect('=')
    const tag = this.#integer('a number')
    const options = parseFieldOptions(this.#lexer)
    this.#lexer.expect(';')
    return { name, tag, options }
  }

  #service(): Service {
    const service: Mutable<Service> = { name: this.#simpleName('a service name'), options: [], rpcs: [] }
    this.#block(() => {
      if (this.#statement('option')) service.options.push(this.#optionStatement())
      else service.rpcs.push(this.#rpc())
    })
    return service
  }

  #rpc(): Rpc {
    const lexer = this.#lexer
    lexer.expect('rpc')
    const name = this.#simpleName('a method name')
    const request = this.#rpcType()
    lexer.expect('returns')
    const response = this.#rpcType()
    const options: Option[] = []
    if (lexer.peek().text === '{') {
      this.#block(() => {
        lexer.expect('option')
        options.push(this.#optionStatement())
      })
      lexer.skip(';')
    } else lexer.expect(';')
    return {
      name,
      requestType: request.type,
      requestStreaming: request.streaming,
      responseType: response.type,
      responseStreaming: response.streaming,
      options,
    }
  }

  #rpcType(): { type: string; streaming: boolean } {
    this.#lexer.expect('(')
    const isStream = this.#statement('stream')
    const streaming = isStream && this.#lexer.peek().text !== ')'
    const type = isStream && !streaming ? 'stream' : this.#typeName('a message type')
    this.#lexer.expect(')')
    return { type, streaming }
  }

  #optionStatement(): Option {
    const option = parseOption(this.#lexer, '=')
    this.#lexer.expect(';')
    return option
  }

  #ranges(what: string): Ranges {
    const ranges = this.#rangeList(what)
    this.#lexer.expect(';')
    return ranges
  }

  #rangeList(what: string): Ranges {
    const ranges: (string | number | { from: number; to: number })[] = []
    do {
      if (this.#lexer.peek().kind === 'string') {
        ranges.push(this.#lexer.string(what))
        continue
      }
      const from = this.#integer(what)
      if (!this.#lexer.skip('to')) ranges.push(from)
      else ranges.push({ from, to: this.#lexer.skip('max') ? TAG_MAX : this.#integer('the end of a range') })
    } while (this.#lexer.skip(','))
    return ranges
  }

  /** Parses `{ … }` and ignores empty statements. Nesting is limited because the text is untrusted. */
  #block(element: () => void): void {
    this.#lexer.expect('{')
    this.#depth += 1
    if (this.#depth > SCOPES_MAX) this.#lexer.fail(`nested deeper than ${SCOPES_MAX}`)
    while (!this.#lexer.skip('}')) {
      if (this.#lexer.peek().kind === 'end') this.#lexer.fail("expected '}'")
      if (!this.#lexer.skip(';')) element()
    }
    this.#depth -= 1
  }

  /** Blanks and comments can precede a dot in the name of a type, but in no other name, as in Confluent's registry. */
  #typeName(what: string): string {
    const at = this.#lexer.peek()
    let name = this.#lexer.word(what)
    for (let next = this.#lexer.peek(); next.kind === 'word' && next.text.startsWith('.'); next = this.#lexer.peek()) {
      name += this.#lexer.skip('.') ? `.${this.#lexer.word(what)}` : this.#lexer.take().text
    }
    return this.#qualified(name, what, at)
  }

  #name(what: string): string {
    const at = this.#lexer.peek()
    return this.#qualified(this.#lexer.word(what), what, at)
  }

  #qualified(name: string, what: string, at: Token): string {
    if (!/^\.?[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(name)) this.#lexer.fail(`expected ${what}`, at)
    return name
  }

  #simpleName(what: string): string {
    const at = this.#lexer.peek()
    const name = this.#lexer.word(what)
    if (!/^[A-Za-z_]\w*$/.test(name)) this.#lexer.fail(`expected ${what}`, at)
    return name
  }

  #integer(what: string): number {
    const at = this.#lexer.peek()
    const text = this.#lexer.word(what)
    const match = /^(-?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)$/.exec(text)
    const digits = match?.[2] ?? ''
    const value = /^0[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number(digits)
    const isNegative = match?.[1] === '-'
    if (!match || value > (isNegative ? 2 ** 31 : 2 ** 31 - 1)) this.#lexer.fail(`expected ${what}`, at)
    return isNegative && value !== 0 ? -value : value
  }
}

function textOf(option: Option | undefined): string | undefined {
  const value = option?.value
  return value?.kind === 'string' || value?.kind === 'word' ? value.text : undefined
}
