import type { Lexer } from './lexer.ts'
import type { Option, OptionValue } from './proto-file.ts'

const NESTING_MAX = 50

/** Parses `[a = 1, (b).c = "x"]` after a field, a constant or a range. Empty if there is no bracket. */
export function parseFieldOptions(lexer: Lexer): readonly Option[] {
  const options: Option[] = []
  if (!lexer.skip('[')) return options
  do options.push(parseOption(lexer, '='))
  while (lexer.skip(','))
  lexer.expect(']')
  return options
}

/** Parses one option. In the text format (separator `:`), a message value needs no separator. */
export function parseOption(lexer: Lexer, separator: '=' | ':', depth = 0): Option {
  if (depth > NESTING_MAX) lexer.fail(`options nested deeper than ${NESTING_MAX}`)
  const first = optionName(lexer)
  const inner = innerNames(lexer, first)
  if (depth + inner.length > NESTING_MAX) lexer.fail(`options nested deeper than ${NESTING_MAX}`)
  if (!(separator === ':' && ['{', '<', '['].includes(lexer.peek().text))) lexer.expect(separator)
  let value = parseValue(lexer, depth + 1)
  for (const part of inner.reverse()) value = { kind: 'option', option: { ...part, value } }
  return { ...first, name: first.name.replace(/\.$/, ''), value }
}

type OptionName = Pick<Option, 'name' | 'parenthesized'>

function optionName(lexer: Lexer): OptionName {
  if (lexer.skip('(')) return extensionName(lexer)
  if (lexer.skip('[')) {
    let name = lexer.word('an extension name')
    while (lexer.skip('/')) name += `/${lexer.word('a type name')}`
    lexer.expect(']')
    return { name: `[${name}]`, parenthesized: false }
  }
  return { name: lexer.word('an option name'), parenthesized: false }
}

function extensionName(lexer: Lexer): OptionName {
  const name = lexer.word('an extension name')
  lexer.expect(')')
  return { name, parenthesized: true }
}

/**
 * Parses `.b.(c).d` after `(a)`, or `(c).d` after `features.`. The lexer returns the names between extensions as one word. As in
 * Confluent's registry, blanks can be around the dots after an extension, and in no other name.
 */
function innerNames(lexer: Lexer, first: OptionName): OptionName[] {
  const names: OptionName[] = []
  let isOpen = !first.parenthesized && first.name.endsWith('.')
  for (;;) {
    if (isOpen && lexer.skip('(')) {
      names.push(extensionName(lexer))
      isOpen = false
    } else if ((first.parenthesized || names.length > 0) && isNamePart(lexer, isOpen)) {
      isOpen = plainNames(lexer, names)
    } else {
      if (isOpen) lexer.fail('expected an option name')
      return names
    }
  }
}

function isNamePart(lexer: Lexer, isOpen: boolean): boolean {
  const { kind, text } = lexer.peek()
  return kind === 'word' && (isOpen || text.startsWith('.'))
}

/** Adds the names of a word such as `.b.c`, and returns whether a dot is the last of it. */
function plainNames(lexer: Lexer, names: OptionName[]): boolean {
  const at = lexer.take()
  const [, plain, dot] = /^\.?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?(\.?)$/.exec(at.text) ?? []
  if (dot === undefined || at.text === '..') lexer.fail('expected an option name', at)
  for (const name of plain?.split('.') ?? []) names.push({ name, parenthesized: false })
  return dot === '.' || plain === undefined
}

function parseValue(lexer: Lexer, depth: number): OptionValue {
  if (depth > NESTING_MAX) lexer.fail(`options nested deeper than ${NESTING_MAX}`)
  const next = lexer.peek()
  if (next.kind === 'string') return { kind: 'string', text: lexer.take().text }
  if (lexer.skip('{')) return parseMap(lexer, '}', depth)
  if (lexer.skip('<')) return parseMap(lexer, '>', depth)
  if (lexer.skip('[')) return parseList(lexer, depth)
  return { kind: 'word', text: lexer.word('a value') }
}

/** Parses a message in the text format. The values of a repeated key become a list. */
function parseMap(lexer: Lexer, end: string, depth: number): OptionValue {
  const values = new Map<string, OptionValue[]>()
  while (!lexer.skip(end)) {
    const { name, value } = parseOption(lexer, ':', depth + 1)
    const before = values.get(name)
    if (before) before.push(value)
    else values.set(name, [value])
    if (!lexer.skip(',')) lexer.skip(';')
  }
  return { kind: 'map', entries: new Map([...values].map(([name, all]) => [name, joined(all)])) }
}

function joined(values: readonly OptionValue[]): OptionValue {
  const [only] = values
  return only && values.length === 1 ? only : { kind: 'list', items: values.flatMap(itemsOf) }
}

function itemsOf(value: OptionValue): readonly OptionValue[] {
  return value.kind === 'list' ? value.items : [value]
}

function parseList(lexer: Lexer, depth: number): OptionValue {
  const items: OptionValue[] = []
  if (lexer.skip(']')) return { kind: 'list', items }
  do items.push(parseValue(lexer, depth + 1))
  while (lexer.skip(','))
  lexer.expect(']')
  return { kind: 'list', items }
}
