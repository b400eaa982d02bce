import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  type Scalar,
  visit,
} from 'yaml'
import type { DocumentPath } from './document-path.ts'

/** Lines and columns start at 1. */
export type TextPosition = { readonly line: number; readonly column: number }

/** A document of a YAML or JSON text. */
export type YamlDocument = {
  /** The position of its first field. */
  readonly start: TextPosition
  /** Why the document is invalid, and where; `value` is undefined then. */
  readonly error?: TextPosition & { readonly message: string }
  readonly value: unknown
  /**
   * The position of the value of a field, or of its key if the value is a map or a list, or if `atKey` is true. If the
   * field does not exist, the position of its nearest parent that does. A field that an alias adds is where its anchor is.
   */
  positionOf(path: DocumentPath, options?: { readonly atKey?: boolean }): TextPosition
}

/**
 * Parses the documents of a text, as `kubectl` does: with the merge key `<<`. An invalid document does not affect the
 * others. Aliases that expand to an excessive number of nodes make a document invalid. With `exactIntegers`, integers
 * that a `number` cannot represent are `bigint`.
 */
export function parseYamlDocuments(
  text: string,
  { exactIntegers = false }: { readonly exactIntegers?: boolean } = {},
): readonly YamlDocument[] {
  const lines = new LineCounter()
  const options = {
    lineCounter: lines,
    prettyErrors: false,
    merge: true,
    uniqueKeys: false,
    intAsBigInt: exactIntegers,
  }
  const documents = parseAllDocuments(text, options)
  const at = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  return ('empty' in documents ? [] : documents).map((document) => {
    const { value, error } = contentOf(document, exactIntegers)
    return {
      start: at(startOf(document)),
      value,
      ...(error !== undefined && { error: { ...at(error.offset), message: error.message } }),
      positionOf: (path, { atKey = false } = {}) => at(offsetOf(document, path, atKey)),
    }
  })
}

type Content = { readonly value?: unknown; readonly error?: { readonly message: string; readonly offset: number } }

function contentOf(document: Document.Parsed | Document, exactIntegers: boolean): Content {
  const [error] = document.errors
  if (error !== undefined) {
    const isDeep = error.message.startsWith('Maximum call stack')
    return { error: { message: isDeep ? 'it is nested too deeply' : error.message, offset: error.pos[0] } }
  }
  const structureError = structureErrorIn(document)
  if (structureError !== undefined) return { error: structureError }
  try {
    return { value: document.toJS(exactIntegers ? { reviver: (_, each) => exactNumber(each) } : {}) }
  } catch (failure) {
    // An excessive number of aliases.
    return { error: { message: (failure as Error).message, offset: startOf(document) } }
  }
}

/** Integers that a `number` cannot represent stay a `bigint`. */
function exactNumber(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/**
 * A key that a map has twice, which the parser checks in quadratic time; an alias without an anchor; or one inside of its
 * own anchor: no JSON can express a value that contains itself.
 */
function structureErrorIn(document: Document): { readonly message: string; readonly offset: number } | undefined {
  const anchors = new Map<string, unknown>()
  let found: { readonly message: string; readonly offset: number } | undefined
  const report = (node: Node, message: string) => {
    found = { message, offset: node.range?.[0] ?? startOf(document) }
    return visit.BREAK
  }
  const remember = (node: { readonly anchor?: string | undefined }) => {
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
  }
  visit(document, {
    Alias(_, alias, parents) {
      const anchored = anchors.get(alias.source)
      if (anchored === undefined) return report(alias, `*${alias.source} has no anchor before it`)
      return parents.includes(anchored as never) ? report(alias, `*${alias.source} contains itself`) : undefined
    },
    Map(_, map) {
      remember(map)
      const keys = new Set<unknown>()
      for (const { key } of map.items) {
        if (!isScalar(key) || isMergeKey(key)) continue
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

function startOf(document: Document): number {
  return document.contents?.range?.[0] ?? document.range?.[0] ?? 0
}

function offsetOf(document: Document, path: DocumentPath, atKey: boolean): number {
  const target = (node: unknown) => (isAlias(node) ? node.resolve(document) : node)
  let node: unknown = document.contents
  let offset = startOf(document)
  for (const [depth, part] of path.entries()) {
    const parent = target(node)
    const { key, value } = isSeq(parent) ? itemOf(parent.items[Number(part)]) : fieldOf(parent, String(part), target)
    if (!isNode(key)) return offset
    const isWanted = depth === path.length - 1 && !atKey && isWrittenScalar(value)
    offset = (isWanted ? value : key).range?.[0] ?? offset
    node = value
  }
  return offset
}

/** An item of a list has no key: its position is that of its value. */
function itemOf(value: unknown): Field {
  return { key: value, value }
}

/** Whether a node is a value in a line. That of `key:` is not written. */
function isWrittenScalar(node: unknown): node is Scalar | Alias {
  if (!isScalar(node) && !isAlias(node)) return false
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
  if (!isMap(map) || searched.has(map)) return {}
  searched.add(map)
  const nameOf = ({ key }: Field) => (isScalar(key) ? String(key.value) : undefined)
  const own = map.items.find((pair) => nameOf(pair) === name)
  if (own !== undefined) return own
  for (const merge of map.items.filter((pair) => isMergeKey(pair.key))) {
    const merged = target(merge.value)
    for (const source of isSeq(merged) ? merged.items : [merged]) {
      const found = fieldOf(target(source), name, target, searched)
      if (found.key !== undefined) return found
    }
  }
  return {}
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.source === '<<'
}
