import type { DocumentPath } from '../../common/document-path.ts'
import { API_GROUP, API_VERSION, API_VERSIONS } from '../../common/resource-api.ts'
import { parseYamlDocuments, type YamlDocument } from '../../common/yaml-documents.ts'
import type { SourceError } from './source-document.ts'

/** A file with manifests of Weir, in the current API version. Everything else in it is as it was. */
export type RewrittenFile = {
  readonly file: string
  readonly text: string
  /** Number of resources whose API version was replaced. */
  readonly count: number
}

export type Rewriting = { readonly rewritten: RewrittenFile; readonly errors: readonly SourceError[] }

/**
 * Replaces the API version of Weir's resources in a text. Comments, layout and other documents are kept, because nothing
 * else is written. Undefined if the text contains no resource of Weir.
 */
export function rewriteManifests(text: string, file: string): Rewriting | undefined {
  if (!text.includes(API_GROUP)) return undefined
  const documents = parseYamlDocuments(text)
  const found = documents.flatMap((document) => resourcesIn(document).map((resource) => ({ document, ...resource })))
  if (found.length === 0) return undefined
  const errors: SourceError[] = documents.flatMap(({ error }) =>
    error === undefined ? [] : [{ file, line: error.line, message: `is not valid YAML: ${error.message}` }],
  )
  /** By start: an alias or a merge key makes one text the API version of several resources. */
  const replacements = new Map<number, { readonly end: number; readonly text: string }>()
  let count = 0
  for (const { document, path, apiVersion } of found) {
    if (apiVersion === API_VERSION) continue
    const range = document.rangeOf(path)
    if (!API_VERSIONS.includes(apiVersion) || range === undefined) {
      const { line } = document.positionOf(path)
      errors.push({ file, line, message: `apiVersion is ${apiVersion}: expected one of ${API_VERSIONS.join(', ')}` })
      continue
    }
    count += 1
    const written = text.slice(range.start, range.end)
    // A text with escapes, such as weir.dev\/v1alpha1 in JSON, is written anew.
    const replaced = written.replace(apiVersion, API_VERSION)
    replacements.set(range.start, {
      end: range.end,
      text: replaced === written ? JSON.stringify(API_VERSION) : replaced,
    })
  }
  return { rewritten: { file, text: withReplacements(text, replacements), count }, errors }
}

function withReplacements(
  text: string,
  replacements: ReadonlyMap<number, { readonly end: number; readonly text: string }>,
): string {
  let rewritten = ''
  let from = 0
  for (const [start, replacement] of [...replacements].sort(([a], [b]) => a - b)) {
    rewritten += text.slice(from, start) + replacement.text
    from = replacement.end
  }
  return rewritten + text.slice(from)
}

type FoundResource = { readonly path: DocumentPath; readonly apiVersion: string }

/** The manifests of Weir in a YAML document: the document itself, and the items of a `List`. */
function resourcesIn({ value }: YamlDocument): readonly FoundResource[] {
  const items = (value as { readonly items?: unknown } | null | undefined)?.items
  const places = [[], ...(Array.isArray(items) ? items.map((_, at) => ['items', at]) : [])]
  return places.flatMap((place) => {
    const [, at] = place
    const object = at === undefined ? value : (items as readonly unknown[])[Number(at)]
    const apiVersion = (object as { readonly apiVersion?: unknown } | null | undefined)?.apiVersion
    return typeof apiVersion === 'string' && apiVersion.startsWith(`${API_GROUP}/`)
      ? [{ path: [...place, 'apiVersion'], apiVersion }]
      : []
  })
}
