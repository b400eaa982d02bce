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
  const { name, parenthesized } = optionName(lexer)
  const inner = parenthesized ? innerNames(lexer) : []
  if (!(separator === ':' && ['{', '<'].includes(lexer.peek().text))) lexer.expect(separator)
  let value = parseValue(lexer, depth + 1)
  for (const part of inner.reverse()) value = { kind: 'option', option: { name: part, parenthesized: false, value } }
  return { name, parenthesized, value }
}

function optionName(lexer: Lexer): { name: string; parenthesized: boolean } {
  if (lexer.skip('(')) {
    const name = lexer.word('an extension name')
    lexer.expect(')')
    return { name, parenthesized: true }
  }
  if (lexer.skip('[')) {
    let name = lexer.word('an extension name')
    while (lexer.skip('/')) name += `/${lexer.word('a type name')}`
    lexer.expect(']')
    return { name: `[${name}]`, parenthesized: false }
  }
  return { name: lexer.word('an option name'), parenthesized: false }
}

/** Parses `.b.c` after `(a)`; the lexer returns it as one word. */
function innerNames(lexer: Lexer): string[] {
  const next = lexer.peek()
  if (next.kind !== 'word' || !next.text.startsWith('.')) return []
  lexer.take()
  return next.text.slice(1).split('.')
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
