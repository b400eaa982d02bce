import type { Json } from './model.ts'

/** The text is no JSON; `message` says where. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
}

/** A JSON text as a tree that keeps what `JSON.parse` loses: the order of all members, and numbers as written. */
type Node =
  | { readonly scalar: string }
  | { readonly items: readonly Node[] }
  | { readonly members: ReadonlyMap<string, Node> }

const NESTING_MAX = 1_000

/** The text without blanks, members in their order (or sorted), as Jackson writes it. Throws `JsonSyntaxError`. */
export function canonicalJson(text: string, options: { readonly sorted: boolean } = { sorted: false }): string {
  const reader = new Reader(text)
  return print(reader.whole(), options.sorted)
}

/** JSON with the members of objects in order: equal values have equal texts. */
export function sortedText(value: Json): string {
  return JSON.stringify(value, (_, inner: Json) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

function print(node: Node, sorted: boolean): string {
  if ('scalar' in node) return node.scalar
  if ('items' in node) return `[${node.items.map((item) => print(item, sorted)).join(',')}]`
  const members = [...node.members]
  if (sorted) members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${members.map(([name, value]) => `${quote(name)}:${print(value, sorted)}`).join(',')}}`
}

const BLANKS = /[ \t\n\r]*/y
const SCALAR = /"(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/sy

class Reader {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): Node {
    const node = this.#value()
    if (this.#at < this.#text.length) this.#fail()
    return node
  }

  #value(): Node {
    this.#blanks()
    if (this.#depth > NESTING_MAX) throw new JsonSyntaxError(`nested deeper than ${NESTING_MAX}`)
    if (this.#skip('{')) return { members: this.#members() }
    if (this.#skip('[')) return { items: this.#items() }
    const scalar = this.#scalar()
    this.#blanks()
    return {
      scalar: scalar.startsWith('"') ? quote(unquote(scalar)) : /^[-\d]/.test(scalar) ? decimal(scalar) : scalar,
    }
  }

  /** A repeated name keeps its place and takes its last value. */
  #members(): ReadonlyMap<string, Node> {
    const members = new Map<string, Node>()
    this.#list('}', () => {
      this.#blanks()
      const name = this.#scalar()
      if (!name.startsWith('"')) this.#fail()
      this.#blanks()
      if (!this.#skip(':')) this.#fail()
      members.set(unquote(name), this.#value())
    })
    return members
  }

  #items(): readonly Node[] {
    const items: Node[] = []
    this.#list(']', () => items.push(this.#value()))
    return items
  }

  #list(end: string, element: () => void): void {
    this.#depth += 1
    this.#blanks()
    if (!this.#skip(end)) {
      do element()
      while (this.#skip(','))
      if (!this.#skip(end)) this.#fail()
    }
    this.#depth -= 1
    this.#blanks()
  }

  #skip(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at += 1
    return true
  }

  #scalar(): string {
    SCALAR.lastIndex = this.#at
    const scalar = SCALAR.exec(this.#text)?.[0]
    if (scalar === undefined) this.#fail()
    this.#at += scalar.length
    return scalar
  }

  #blanks(): void {
    BLANKS.lastIndex = this.#at
    BLANKS.exec(this.#text)
    this.#at = BLANKS.lastIndex
  }

  #fail(): never {
    const before = this.#text.slice(0, this.#at).split('\n')
    const found = this.#at < this.#text.length ? `'${this.#text[this.#at]}'` : 'the end'
    throw new JsonSyntaxError(`${before.length}:${(before.at(-1)?.length ?? 0) + 1}: unexpected ${found}`)
  }
}

function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch (error) {
    throw new JsonSyntaxError((error as Error).message)
  }
}

/** Jackson escapes control characters with capital hexadecimal digits. */
function quote(text: string): string {
  return JSON.stringify(text).replace(/\\u00([0-9a-f]{2})/g, (_, digits: string) => `\\u00${digits.toUpperCase()}`)
}

/** A number as Java's BigDecimal writes it: digits are kept, an exponent stands where the value is far from 1. */
function decimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? []
  if (fraction === '' && !/e/i.test(text)) return text
  const digits = `${whole}${fraction}`.replace(/^0+(?=\d)/, '')
  const scale = fraction.length - Number(exponent)
  const adjusted = digits.length - scale - 1
  if (scale >= 0 && adjusted >= -6) return sign + placePoint(digits, scale)
  const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits
  return `${sign}${mantissa}E${adjusted >= 0 ? '+' : ''}${adjusted}`
}

function placePoint(digits: string, scale: number): string {
  if (scale === 0) return digits
  const padded = digits.padStart(scale + 1, '0')
  return `${padded.slice(0, -scale)}.${padded.slice(-scale)}`
}
