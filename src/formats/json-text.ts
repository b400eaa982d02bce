import { javaDouble } from '../common/java-double.ts'

/** JSON that preserves what `JSON.parse` loses: the order of all members, and the literals of numbers. */
export type Json = null | boolean | string | JsonNumber | readonly Json[] | JsonObject
export type JsonObject = ReadonlyMap<string, Json>

/** A number with its literal: `1.0` differs from `1`, and `9007199254740993` is exact. */
export class JsonNumber {
  readonly literal: string
  constructor(literal: string) {
    this.literal = literal
  }

  get value(): number {
    return Number(this.literal)
  }

  get isInteger(): boolean {
    return /^-?\d+$/.test(this.literal)
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return value instanceof Map
}

export type JsonOptions = {
  /** Allows comments, `/* … *\/` and `// …`, as the Avro parser for Java does. */
  readonly comments?: boolean
  /** The maximum nesting of arrays and objects. Default: 500. */
  readonly depthMax?: number
}

const DEPTH_MAX = 500

/** Parses a JSON text. The last value of a duplicate member is kept. Throws a `SyntaxError` with line and column. */
export function parseJson(text: string, options: JsonOptions = {}): Json {
  const reader = new JsonReader(text, options)
  const value = reader.value(0)
  reader.end()
  return value
}

export type PrintOptions = {
  /** Sorts the members by name. Default: they keep their order. */
  readonly sorted?: boolean
  /** Default: integers keep their literal, and other numbers are printed like a Java double, as in Confluent's registry. */
  readonly number?: (number: JsonNumber) => string
}

/** Prints JSON without whitespace. */
export function printJson(value: Json, options: PrintOptions = {}): string {
  if (typeof value === 'string') return printString(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (value instanceof JsonNumber) return (options.number ?? printNumber)(value)
  if (!isObject(value)) return `[${value.map((item) => printJson(item, options)).join(',')}]`
  const members = [...value]
  if (options.sorted) members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${members.map(([name, member]) => `${printString(name)}:${printJson(member, options)}`).join(',')}}`
}

/** As `JSON.stringify`, but with upper-case hexadecimal digits in escapes, as in Java. */
export function printString(text: string): string {
  return JSON.stringify(text).replace(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`)
}

function printNumber(number: JsonNumber): string {
  return number.isInteger ? number.literal.replace(/^-0$/, '0') : javaDouble(number.value)
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y
const BLANK = /[ \t\n\r]+/y
const BLANK_OR_COMMENT = /[ \t\n\r]+|\/\*[\s\S]*?\*\/|\/\/[^\n]*/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them inside strings.
const PLAIN = /[^"\\\u0000-\u001f]*/y
/** V8 copies the characters of slices up to this length, with the quotes. */
const SLICE_MAX = 14
const SPACE = 32
const SLASH = 47

class JsonReader {
  readonly #text: string
  readonly #blank: RegExp
  readonly #depthMax: number
  #at = 0

  constructor(text: string, options: JsonOptions) {
    this.#text = text
    this.#blank = options.comments ? BLANK_OR_COMMENT : BLANK
    this.#depthMax = options.depthMax ?? DEPTH_MAX
  }

  value(depth: number): Json {
    if (depth > this.#depthMax) throw this.#error(`nested deeper than ${this.#depthMax}`)
    switch (this.#peek()) {
      case '{':
        return this.#object(depth)
      case '[':
        return this.#array(depth)
      case '"':
        return this.#string()
      case 't':
        return this.#word('true', true)
      case 'f':
        return this.#word('false', false)
      case 'n':
        return this.#word('null', null)
      default:
        return this.#number()
    }
  }

  end(): void {
    if (this.#peek() !== '') throw this.#error('expected the end')
  }

  #object(depth: number): JsonObject {
    const members = new Map<string, Json>()
    this.#at += 1
    if (this.#take('}')) return members
    do {
      if (this.#peek() !== '"') throw this.#error('expected a member name in quotes')
      const name = this.#string()
      if (!this.#take(':')) throw this.#error(`expected ':' after "${name}"`)
      members.set(name, this.value(depth + 1))
    } while (this.#take(','))
    if (!this.#take('}')) throw this.#error("expected ',' or '}'")
    return members
  }

  #array(depth: number): readonly Json[] {
    const items: Json[] = []
    this.#at += 1
    if (this.#take(']')) return items
    do items.push(this.value(depth + 1))
    while (this.#take(','))
    if (!this.#take(']')) throw this.#error("expected ',' or ']'")
    return items
  }

  #string(): string {
    const start = this.#at
    let isPlain = true
    this.#at += 1
    for (;;) {
      this.#skip(PLAIN)
      const next = this.#text[this.#at]
      if (next === '\\') {
        this.#at += 2
        isPlain = false
        continue
      }
      if (next !== '"') throw this.#error('expected the end of a string')
      this.#at += 1
      return this.#unescaped(start, isPlain)
    }
  }

  #unescaped(start: number, isPlain: boolean): string {
    // A longer slice would keep the whole text in memory.
    if (isPlain && this.#at - start <= SLICE_MAX) return this.#text.slice(start + 1, this.#at - 1)
    try {
      return JSON.parse(this.#text.slice(start, this.#at)) as string
    } catch {
      throw this.#error('a string contains an invalid escape')
    }
  }

  #number(): JsonNumber {
    const start = this.#at
    if (!this.#skip(NUMBER)) throw this.#error('expected a value')
    return new JsonNumber(this.#text.slice(start, this.#at))
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#error('expected a value')
    this.#at += word.length
    return value
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false
    this.#at += 1
    return true
  }

  #peek(): string {
    const code = this.#text.charCodeAt(this.#at)
    if (code <= SPACE || code === SLASH) while (this.#skip(this.#blank));
    return this.#text[this.#at] ?? ''
  }

  /** Skips what matches a sticky expression. Returns false if that is nothing. */
  #skip(pattern: RegExp): boolean {
    const start = this.#at
    pattern.lastIndex = start
    if (pattern.test(this.#text)) this.#at = pattern.lastIndex
    return this.#at > start
  }

  #error(what: string): SyntaxError {
    const before = this.#text.slice(0, this.#at).split('\n')
    return new SyntaxError(`${what} at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`)
  }
}
