import { isMap, isNode, isScalar, LineCounter, parseAllDocuments } from 'yaml'

export type SourcePath = readonly (string | number)[]

/** One document of an input file, with the lines of its fields. */
export type SourceDocument = {
  readonly file: string
  readonly value: unknown
  /** The line, from 1, of the field or of its nearest existing parent. */
  lineOf(path: SourcePath): number
}

/** A document, or a part of a file, that cannot be read. */
export type SourceError = { readonly file: string; readonly line: number; readonly message: string }

export type SourceContent = { readonly documents: readonly SourceDocument[]; readonly errors: readonly SourceError[] }

/**
 * Reads the documents of a YAML or JSON file. An invalid document does not affect the others. Aliases that expand to an
 * excessive number of nodes make a document invalid.
 */
export function readYamlDocuments(text: string, file: string): SourceContent {
  const lines = new LineCounter()
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line)
  const documents: SourceDocument[] = []
  const errors: SourceError[] = []
  const parsed = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, intAsBigInt: true })
  for (const document of 'empty' in parsed ? [] : parsed) {
    const start = document.contents?.range?.[0] ?? document.range?.[0] ?? 0
    const [error] = document.errors
    if (error !== undefined) {
      errors.push({
        file,
        line: lineAt(error.pos[0]),
        message: `is not valid YAML: ${error.message}${templateHint(text)}`,
      })
      continue
    }
    try {
      const value: unknown = document.toJS({ reviver: (_, each) => exactNumber(each) })
      if (value === null) continue
      documents.push({ file, value, lineOf: (path) => lineAt(offsetOf(document.contents, path) ?? start) })
    } catch (failure) {
      // An unresolved alias, an excessive number of aliases, or excessive nesting.
      errors.push({ file, line: lineAt(start), message: `is not valid YAML: ${(failure as Error).message}` })
    }
  }
  return { documents, errors }
}

function templateHint(text: string): string {
  return text.includes('{{') ? '; it looks like a template: convert the rendered manifests' : ''
}

/** The offset of the last key or item on the path that exists. */
function offsetOf(root: unknown, path: SourcePath): number | undefined {
  let node = root
  let offset = startOf(root)
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part))
      if (pair === undefined) return offset
      offset = startOf(pair.key) ?? offset
      node = pair.value
    } else if (typeof node === 'object' && node !== null && 'items' in node && Array.isArray(node.items)) {
      node = node.items[Number(part)]
      offset = startOf(node) ?? offset
    } else return offset
  }
  return offset
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined
}

/** Integers that a `number` cannot represent stay a `bigint`: an offset or a configuration value must not be rounded. */
function exactNumber(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}
