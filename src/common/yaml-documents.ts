import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import type { Alias, CST, Document, LineCounter, Node, Scalar } from 'yaml'
import type { DocumentPath } from './document-path.ts'

const load = createRequire(import.meta.url)
let loaded: typeof Yaml | undefined
/** The library, loaded with the first text, because most programs read none. */
const yaml = () => (loaded ??= load('yaml') as typeof Yaml)

/** Levels of maps and lists in a document. The library needs quadratic time for much deeper ones, or the whole stack. */
const DEPTH_MAX = 200

/** Lines and columns start at 1. */
export type TextPosition = { readonly line: number; readonly column: number }

/** Offsets in a text; `end` is after the last character. */
export type TextRange = { readonly start: number; readonly end: number }

/** A document of a YAML or JSON text. */
export type YamlDocument = {
  /** The position of its first field. */
  readonly start: TextPosition
  /** Why the document is invalid, and where; `value` is undefined then. */
  readonly error?: TextPosition & { readonly message: string }
  readonly value: unknown
  /** The value of a valid document with numbers as the texts that they are written as, such as `1.0`. */
  readonly writtenValue: () => unknown
  /**
   * The position of the value of a field, or of its key if the value is a map or a list, or if `atKey` is true. If the
   * field does not exist, the position of its nearest parent that does. A field that an alias adds is where its anchor is.
   */
  positionOf(path: DocumentPath, options?: { readonly atKey?: boolean }): TextPosition
  /** Where the scalar value of a field is written, with its quotes. Undefined if the field has none. */
  rangeOf(path: DocumentPath): TextRange | undefined
}

/**
 * Parses the documents of a text, as `kubectl` does: with the merge key `<<`. An invalid document does not affect the
 * others. Excessive nesting, and aliases that expand to an excessive number of nodes, make a document invalid. With
 * `exactIntegers`, integers that a `number` cannot represent are `bigint`.
 */
export function parseYamlDocuments(
  text: string,
  { exactIntegers = false }: { readonly exactIntegers?: boolean } = {},
): readonly YamlDocument[] {
  const lines = new (yaml().LineCounter)()
  const at = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  return composeDocuments(text, lines, exactIntegers).map((document) => {
    if (!('contents' in document)) {
      const start = at(document.offset)
      const error = { ...start, message: TOO_DEEP }
      const none = () => undefined
      return { start, value: undefined, writtenValue: none, error, positionOf: () => start, rangeOf: none }
    }
    const { value, error } = contentOf(document, exactIntegers)
    let written: { readonly value: unknown } | undefined
    return {
      start: at(startOf(document)),
      value,
      writtenValue: () => {
        written ??= { value: writtenValueOf(document) }
        return written.value
      },
      ...(error !== undefined && { error: { ...at(error.offset), message: error.message } }),
      positionOf: (path, { atKey = false } = {}) => at(offsetOf(document, path, atKey)),
      rangeOf: (path) => rangeOfScalar(document, path),
    }
  })
}

/** Parses a text that is one document. Throws an `Error` with the position of what is invalid. An empty text is null. */
export function parseYaml(text: string): unknown {
  const [first, second] = parseYamlDocuments(text)
  const { line, column, message } = first?.error ?? { ...second?.start, message: 'it has more than one document' }
  if (first?.error !== undefined || second !== undefined) throw new Error(`line ${line}, column ${column}: ${message}`)
  return first?.value ?? null
}

const KEY_ERROR = 'a key must not be a map or a list'
const TOO_DEEP = `it is nested too deeply: at most ${DEPTH_MAX} levels of maps and lists are read`

/** The offset at which a document exceeds the nesting limit. */
type TooDeep = { readonly offset: number }

/** Composes documents. The rest of one that is nested too deeply is skipped. */
function composeDocuments(text: string, lines: LineCounter, intAsBigInt: boolean): readonly (Document | TooDeep)[] {
  const { Composer, Parser } = yaml()
  const options = { lineCounter: lines, prettyErrors: false, merge: true, uniqueKeys: false, intAsBigInt }
  const documents: (Document | TooDeep)[] = []
  lines.addNewLine(0)
  for (let start = 0; start < text.length; ) {
    const composer = new Composer(options)
    const parser = new Parser(lines.addNewLine)
    parser.offset = start
    documents.push(...composer.compose(boundedTokens(parser, text.slice(start))))
    if (parser.stack.length === 0) break
    documents.push({ offset: parser.offset })
    start = nextDocument(text, parser.offset, lines)
  }
  return documents
}

/** The tokens of a text. They end early, with the stack of the parser not empty, where the nesting is too deep. */
function* boundedTokens(parser: Yaml.Parser, text: string): Generator<CST.Token> {
  for (const lexeme of new (yaml().Lexer)().lex(text)) {
    yield* parser.next(lexeme)
    // The document itself is the first entry of the stack, and a scalar may be the last one.
    if (parser.stack.length > DEPTH_MAX + 2) return
  }
  yield* parser.end()
}

/** The offset of the next document marker, or of the end of the text. */
function nextDocument(text: string, offset: number, lines: LineCounter): number {
  const marker = /^---(?=\s|$)/gm
  marker.lastIndex = offset
  const next = marker.exec(text)?.index ?? text.length
  for (let end = text.indexOf('\n', offset); end !== -1 && end < next; end = text.indexOf('\n', end + 1)) {
    lines.addNewLine(end + 1)
  }
  return next
}

type Content = { readonly value?: unknown; readonly error?: { readonly message: string; readonly offset: number } }

function contentOf(document: Document, exactIntegers: boolean): Content {
  const [error] = document.errors
  if (error !== undefined) return { error: { message: error.message, offset: error.pos[0] } }
  const structureError = structureErrorIn(document)
  if (structureError !== undefined) return { error: structureError }
  try {
    return { value: document.toJS(exactIntegers ? { reviver: (_, each) => exactNumber(each) } : {}) }
  } catch (failure) {
    // An excessive number of aliases.
    return { error: { message: (failure as Error).message, offset: startOf(document) } }
  }
}

function writtenValueOf(document: Document): unknown {
  yaml().visit(document, {
    Scalar(_, scalar) {
      const isNumber = typeof scalar.value === 'number' || typeof scalar.value === 'bigint'
      if (isNumber) scalar.value = scalar.source ?? String(scalar.value)
    },
  })
  return document.toJS()
}

/** Integers that a `number` cannot represent stay a `bigint`. */
function exactNumber(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/**
 * A key that a map has twice, which the parser checks in quadratic time; a key that is a map or a list, which the library
 * prints as text in exponential time; an alias without an anchor; or one inside of its own anchor. JSON can express neither
 * of the last two, nor a key that is no text.
 */
function structureErrorIn(document: Document): { readonly message: string; readonly offset: number } | undefined {
  const anchors = new Map<string, AliasTarget>()
  let found: { readonly message: string; readonly offset: number } | undefined
  const report = (node: Node, message: string) => {
    found = { message, offset: node.range?.[0] ?? startOf(document) }
    return yaml().visit.BREAK
  }
  const remember = (node: AliasTarget) => {
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
  }
  yaml().visit(document, {
    Alias(at, alias, parents) {
      const anchored = anchors.get(alias.source)
      if (anchored === undefined) return report(alias, `*${alias.source} has no anchor before it`)
      if (at === 'key' && yaml().isCollection(anchored)) return report(alias, KEY_ERROR)
      if (parents.includes(anchored as never)) return report(alias, `*${alias.source} contains itself`)
      setTarget(alias, anchored)
      return undefined
    },
    Map(_, map) {
      remember(map)
      const keys = new Set<unknown>()
      for (const { key } of map.items) {
        if (yaml().isCollection(key)) return report(key, KEY_ERROR)
        if (!yaml().isScalar(key) || isMergeKey(key)) continue
        if (keys.has(key.value)) return report(key, `the key ${String(key.value)} is used twice`)
        keys.add(key.value)
      }
      return undefined
    },
    Seq: (_, list) => remember(list),
    Scalar: (_, scalar) => remember(scalar),
  })
  return found
}

type AliasTarget = NonNullable<ReturnType<Alias['resolve']>>

/** Resolves an alias directly. The library would search all anchors of the document for each alias, also for nested ones. */
function setTarget(alias: Alias, target: AliasTarget): void {
  const resolve = alias.resolve.bind(alias)
  alias.resolve = (document, context) => {
    if (context === undefined) return target
    context.aliasResolveCache = [target]
    return resolve(document, context)
  }
}

function startOf(document: Document): number {
  return document.contents?.range?.[0] ?? document.range?.[0] ?? 0
}

function offsetOf(document: Document, path: DocumentPath, atKey: boolean): number {
  const target = (node: unknown) => (yaml().isAlias(node) ? node.resolve(document) : node)
  let node: unknown = document.contents
  let offset = startOf(document)
  for (const [depth, part] of path.entries()) {
    const parent = target(node)
    const { key, value } = yaml().isSeq(parent)
      ? itemOf(parent.items[Number(part)])
      : fieldOf(parent, String(part), target)
    if (!yaml().isNode(key)) return offset
    const isWanted = depth === path.length - 1 && !atKey && isWrittenScalar(value)
    offset = (isWanted ? value : key).range?.[0] ?? offset
    node = value
  }
  return offset
}

function rangeOfScalar(document: Document, path: DocumentPath): TextRange | undefined {
  const target = (node: unknown) => (yaml().isAlias(node) ? node.resolve(document) : node)
  const scalar = path.reduce<unknown>((node, part) => {
    const parent = target(node)
    return yaml().isSeq(parent) ? parent.items[Number(part)] : fieldOf(parent, String(part), target).value
  }, document.contents)
  const written = target(scalar)
  if (!yaml().isScalar(written) || !isWrittenScalar(written)) return undefined
  const [start, end] = written.range!
  return { start, end }
}

/** An item of a list has no key: its position is that of its value. */
function itemOf(value: unknown): Field {
  return { key: value, value }
}

/** Whether a node is a value in a line. That of `key:` is not written. */
function isWrittenScalar(node: unknown): node is Scalar | Alias {
  if (!yaml().isScalar(node) && !yaml().isAlias(node)) return false
  const [start = 0, end = 0] = node.range ?? []
  return end > start
}

type Field = { readonly key: unknown; readonly value: unknown }

/** The field of a map, its own one or one that the merge key adds. */
function fieldOf(
  map: unknown,
  name: string,
  target: (node: unknown) => unknown,
  searched = new Set<unknown>(),
): Partial<Field> {
  if (!yaml().isMap(map) || searched.has(map)) return {}
  searched.add(map)
  const nameOf = ({ key }: Field) => (yaml().isScalar(key) ? String(key.value) : undefined)
  const own = map.items.find((pair) => nameOf(pair) === name)
  if (own !== undefined) return own
  for (const merge of map.items.filter((pair) => isMergeKey(pair.key))) {
    const merged = target(merge.value)
    for (const source of yaml().isSeq(merged) ? merged.items : [merged]) {
      const found = fieldOf(target(source), name, target, searched)
      if (found.key !== undefined) return found
    }
  }
  return {}
}

function isMergeKey(key: unknown): boolean {
  return yaml().isScalar(key) && key.source === '<<'
}
