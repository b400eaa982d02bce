import type { DocumentPath } from '../../common/document-path.ts'
import { HclScanner, HclSyntaxError } from './hcl-scanner.ts'
import type { SourceContent } from './source-document.ts'
import { UnevaluatedExpression } from './source-object.ts'

type Body = Record<string, unknown>

const NESTING_MAX = 200

/**
 * Reads a Terraform file into the structure of Terraform's JSON syntax: `resource "a" "b" { c = 1 }` becomes
 * `{resource: {a: {b: {c: 1}}}}`, and repeated blocks become a list. Literals are evaluated; everything that needs
 * Terraform, such as a reference or a function, is an `UnevaluatedExpression`.
 */
export function readHclDocument(text: string, file: string): SourceContent {
  const reader = new HclReader(new HclScanner(text))
  try {
    const value = reader.readFile()
    return { documents: [{ file, value, lineOf: (path) => reader.lineOf(value, path) }], errors: [] }
  } catch (error) {
    if (!(error instanceof HclSyntaxError)) throw error
    return { documents: [], errors: [{ file, line: error.line, message: `is not valid Terraform: ${error.message}` }] }
  }
}

class HclReader {
  readonly #scanner: HclScanner
  /** The lines of the members of each map and list. */
  readonly #lines = new WeakMap<object, Map<string, number>>()
  #depth = 0

  constructor(scanner: HclScanner) {
    this.#scanner = scanner
  }

  readFile(): Body {
    return this.#body(false)
  }

  lineOf(root: unknown, path: DocumentPath): number {
    let line = 1
    let node = root
    for (const part of path) {
      if (typeof node !== 'object' || node === null) return line
      line = this.#lines.get(node)?.get(String(part)) ?? line
      node = (node as Record<string | number, unknown>)[part]
    }
    return line
  }

  /** Attributes and blocks, until the closing brace of a block or the end of the file. */
  #body(isBlock: boolean): Body {
    if (++this.#depth > NESTING_MAX) throw this.#scanner.error(`is nested more than ${NESTING_MAX} levels deep`)
    const body: Body = {}
    for (;;) {
      this.#scanner.skipLines()
      if (isBlock ? this.#scanner.next('}') : this.#scanner.isAtEnd) break
      if (this.#scanner.isAtEnd) throw this.#scanner.error('a block is not closed')
      this.#attributeOrBlock(body)
    }
    this.#depth -= 1
    return body
  }

  #attributeOrBlock(body: Body): void {
    const { line } = this.#scanner
    const name = this.#scanner.identifier()
    this.#scanner.skipBlanks()
    if (this.#scanner.next('=')) {
      if (Object.hasOwn(body, name)) throw this.#scanner.error(`declares ${name} twice`)
      this.#set(body, name, this.#expression(), line)
      return
    }
    let owner = body
    let key = name
    for (;;) {
      this.#scanner.skipBlanks()
      if (this.#scanner.next('{')) break
      const label = this.#scanner.label()
      const nested = Object.hasOwn(owner, key) && isBody(owner[key]) ? (owner[key] as Body) : {}
      if (owner[key] !== nested) this.#set(owner, key, nested, line)
      owner = nested
      key = label
    }
    this.#addBlock(owner, key, this.#body(true), line)
  }

  #addBlock(owner: Body, key: string, block: Body, line: number): void {
    if (!Object.hasOwn(owner, key)) {
      this.#set(owner, key, block, line)
      return
    }
    const present = owner[key]
    const list: unknown[] = Array.isArray(present) ? present : [present]
    if (!Array.isArray(present)) {
      const firstLine = this.#lines.get(owner)?.get(key) ?? line
      this.#set(owner, key, list, firstLine)
      this.#lines.set(list, new Map([['0', firstLine]]))
    }
    list.push(block)
    this.#lines.get(list)?.set(String(list.length - 1), line)
  }

  /** A literal, or the source of an expression. */
  #expression(): unknown {
    const start = this.#scanner.position
    const literal = this.#literal()
    if (literal !== undefined && this.#scanner.isAtEndOfExpression) return literal
    this.#scanner.position = start
    return new UnevaluatedExpression(this.#scanner.expression())
  }

  /** Undefined if it is not a literal. `null` is one. */
  #literal(): unknown {
    this.#scanner.skipBlanks()
    const text = this.#scanner.string() ?? this.#scanner.heredoc()
    if (text !== undefined) return 'value' in text ? text.value : new UnevaluatedExpression(text.source)
    const scalar = this.#scanner.scalar()
    if (scalar !== undefined) return scalar
    if (++this.#depth > NESTING_MAX) throw this.#scanner.error(`is nested more than ${NESTING_MAX} levels deep`)
    const found = this.#scanner.next('[') ? this.#list() : this.#scanner.next('{') ? this.#map() : undefined
    this.#depth -= 1
    return found
  }

  #list(): unknown[] | undefined {
    const list: unknown[] = []
    const lines = new Map<string, number>()
    this.#lines.set(list, lines)
    for (;;) {
      this.#scanner.skipLines()
      if (this.#scanner.next(']')) return list
      if (this.#scanner.isFor) return undefined
      lines.set(String(list.length), this.#scanner.line)
      list.push(this.#expression())
      this.#scanner.skipLines()
      if (this.#scanner.next(',')) continue
      if (!this.#scanner.next(']')) throw this.#scanner.error('expected , or ] in a list')
      return list
    }
  }

  #map(): Body | undefined {
    const map: Body = {}
    for (;;) {
      this.#scanner.skipLines()
      if (this.#scanner.next('}')) return map
      if (this.#scanner.isFor) return undefined
      const { line } = this.#scanner
      const key = this.#scanner.mapKey()
      // A computed key: the whole map is an expression.
      if (key === undefined) return undefined
      this.#scanner.skipBlanks()
      if (!this.#scanner.next('=') && !this.#scanner.next(':')) throw this.#scanner.error('expected = after a key')
      this.#set(map, key, this.#expression(), line)
      this.#scanner.skipBlanks()
      this.#scanner.next(',')
    }
  }

  #set(owner: Body, key: string, value: unknown, line: number): void {
    // `__proto__` becomes a member like any other.
    Object.defineProperty(owner, key, { value, enumerable: true, configurable: true, writable: true })
    const lines = this.#lines.get(owner) ?? new Map<string, number>()
    lines.set(key, line)
    this.#lines.set(owner, lines)
  }
}

function isBody(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof UnevaluatedExpression)
  )
}
