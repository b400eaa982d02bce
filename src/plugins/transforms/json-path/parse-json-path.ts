import {
  type JsonPath,
  OPERATORS,
  type Operand,
  type PathCondition,
  type PathOperator,
  type Segment,
  type Selector,
} from './json-path-syntax.ts'

const TEXT_LENGTH_MAX = 10_000
const DEPTH_MAX = 50

/** Parses a path in the syntax of Jayway's JsonPath, without functions. Throws an `Error` with the reason and the position. */
export function parseJsonPath(text: string): JsonPath {
  if (text.length > TEXT_LENGTH_MAX) throw new Error(`it has more than ${TEXT_LENGTH_MAX} characters`)
  const parser = new Parser(/^[$@]/.test(text) ? text : `$.${text}`)
  const path = parser.path()
  parser.expectEnd()
  if (!path.isRoot) throw new Error('it must start with $')
  return path
}

class Parser {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  path(): JsonPath {
    const isRoot = this.#next() === '$'
    this.#at += 1
    const segments: Segment[] = []
    for (let segment = this.#segment(); segment !== undefined; segment = this.#segment()) segments.push(segment)
    return { isRoot, segments, isDefinite: segments.every(isDefinite) }
  }

  expectEnd(): void {
    this.#skipSpace()
    if (this.#at < this.#text.length) this.#fail(`'${this.#text.slice(this.#at, this.#at + 10)}' is not expected`)
  }

  #segment(): Segment | undefined {
    if (this.#next() === '[') return { isDeep: false, selector: this.#bracket() }
    if (this.#next() !== '.') return undefined
    this.#at += 1
    const isDeep = this.#take('.')
    return { isDeep, selector: this.#next() === '[' ? this.#bracket() : this.#dotted() }
  }

  #dotted(): Selector {
    if (this.#take('*')) return { kind: 'all' }
    const name = this.#match(/[^.[\]()\s,=<>!&|~'"]+/y)
    if (name === undefined) this.#fail('a name is expected')
    if (this.#next() === '(') this.#fail(`functions such as ${name}() are not supported`)
    return { kind: 'names', names: [name] }
  }

  #bracket(): Selector {
    this.#at += 1
    this.#skipSpace()
    const selector = this.#inBrackets()
    this.#skipSpace()
    if (!this.#take(']')) this.#fail("']' is expected")
    return selector
  }

  #inBrackets(): Selector {
    if (this.#take('*')) return { kind: 'all' }
    if (this.#take('?')) return this.#filter()
    const quoted = this.#quoted()
    if (quoted !== undefined) return { kind: 'names', names: [quoted, ...this.#more(() => this.#quoted())] }
    const from = this.#integer()
    this.#skipSpace()
    if (this.#take(':')) {
      this.#skipSpace()
      return { kind: 'slice', from, to: this.#integer() }
    }
    if (from === undefined) this.#fail('a name in quotes, an index, a slice, * or ?( is expected')
    return { kind: 'indexes', indexes: [from, ...this.#more(() => this.#integer())] }
  }

  /** Further items after commas. */
  #more<Item>(read: () => Item | undefined): readonly Item[] {
    const items: Item[] = []
    for (this.#skipSpace(); this.#take(','); this.#skipSpace()) {
      this.#skipSpace()
      const item = read()
      if (item === undefined) this.#fail('an item is expected')
      items.push(item)
    }
    return items
  }

  #filter(): Selector {
    this.#skipSpace()
    if (!this.#take('(')) this.#fail("'(' is expected")
    const condition = this.#or()
    this.#skipSpace()
    if (!this.#take(')')) this.#fail("')' is expected")
    return { kind: 'filter', condition }
  }

  #or(): PathCondition {
    return this.#chain('or', '||', () => this.#chain('and', '&&', () => this.#not()))
  }

  #chain(kind: 'or' | 'and', sign: string, read: () => PathCondition): PathCondition {
    const terms = [read()]
    for (this.#skipSpace(); this.#take(sign); this.#skipSpace()) terms.push(read())
    return terms.length === 1 && terms[0] !== undefined ? terms[0] : { kind, terms }
  }

  #not(): PathCondition {
    this.#skipSpace()
    if (this.#text.startsWith('!=', this.#at) || !this.#take('!')) return this.#term()
    return { kind: 'not', term: this.#nested(() => this.#not()) }
  }

  #term(): PathCondition {
    if (this.#take('(')) {
      const inner = this.#nested(() => this.#or())
      this.#skipSpace()
      if (!this.#take(')')) this.#fail("')' is expected")
      return inner
    }
    const left = this.#operand()
    const operator = this.#operator()
    if (operator !== undefined) return { kind: 'compare', operator, left, right: this.#operand() }
    if (left.kind === 'path') return { kind: 'exists', path: left.path }
    this.#fail(`an operator is expected: ${OPERATORS.join(' ')}`)
  }

  #operator(): PathOperator | undefined {
    this.#skipSpace()
    const found = OPERATORS.find((one) => this.#text.slice(this.#at, this.#at + one.length).toLowerCase() === one)
    if (found !== undefined) this.#at += found.length
    const unknown = found === undefined ? this.#match(/[a-zA-Z]+/y) : undefined
    if (unknown !== undefined)
      this.#fail(`the operator '${unknown}' is not supported: use one of ${OPERATORS.join(' ')}`)
    return found
  }

  #operand(): Operand {
    this.#skipSpace()
    const next = this.#next()
    if (next === '@' || next === '$') return { kind: 'path', path: this.#nested(() => this.path()) }
    if (next === '/') return this.#regex()
    return { kind: 'value', value: this.#literal() }
  }

  #regex(): Operand {
    const [, body, flags] = this.#groups(/\/((?:\\.|[^/\\])*)\/([a-zA-Z]*)/y) ?? []
    if (body === undefined || flags === undefined) this.#fail('a regular expression between / and / is expected')
    if (!/^[ims]*$/.test(flags))
      this.#fail(`the flags '${flags}' of a regular expression are not supported: use i, m or s`)
    const unescaped = body.replaceAll(String.raw`\/`, '/')
    return { kind: 'regex', text: flags === '' ? unescaped : `(?${flags})${unescaped}` }
  }

  #literal(): unknown {
    const quoted = this.#quoted()
    if (quoted !== undefined) return quoted
    if (this.#take('[')) {
      this.#skipSpace()
      if (this.#take(']')) return []
      const items = this.#nested(() => [this.#literal(), ...this.#more(() => this.#literal())])
      if (!this.#take(']')) this.#fail("']' is expected")
      return items
    }
    const word = this.#match(/[-+.\w]+/y)
    if (word === 'true' || word === 'false') return word === 'true'
    if (word === 'null') return null
    if (word !== undefined && /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(word)) return Number(word)
    this.#fail('a path, a text in quotes, a number, true, false, null, a list or a regular expression is expected')
  }

  /** A text in single or double quotes; undefined if there is none. */
  #quoted(): string | undefined {
    const [, single, double] = this.#groups(/'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"/sy) ?? []
    return (single ?? double)?.replace(/\\(.)/gs, '$1')
  }

  #integer(): number | undefined {
    const digits = this.#match(/-?\d{1,9}/y)
    return digits === undefined ? undefined : Number(digits)
  }

  #nested<Result>(read: () => Result): Result {
    this.#depth += 1
    if (this.#depth > DEPTH_MAX) this.#fail(`it is nested more than ${DEPTH_MAX} times`)
    const result = read()
    this.#depth -= 1
    return result
  }

  #next(): string | undefined {
    return this.#text[this.#at]
  }

  #take(sign: string): boolean {
    const isNext = this.#text.startsWith(sign, this.#at)
    if (isNext) this.#at += sign.length
    return isNext
  }

  #match(pattern: RegExp): string | undefined {
    return this.#groups(pattern)?.[0]
  }

  #groups(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text) ?? undefined
    if (found !== undefined) this.#at = pattern.lastIndex
    return found
  }

  #skipSpace(): void {
    this.#match(/\s*/y)
  }

  #fail(reason: string): never {
    throw new Error(`${reason} at character ${this.#at + 1} of ${this.#text}`)
  }
}

/** Whether a segment leads to at most one value. */
export function isDefinite({ isDeep, selector }: Segment): boolean {
  if (isDeep) return false
  if (selector.kind === 'names') return selector.names.length === 1
  return selector.kind === 'indexes' && selector.indexes.length === 1
}
