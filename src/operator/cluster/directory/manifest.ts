import { type Document, isMap, isNode, isScalar, LineCounter, type Pair, parseAllDocuments, stringify } from 'yaml'
import { didYouMean } from '../../../config/did-you-mean.ts'
import type { FieldError } from '../../resources/field-error.ts'
import { type DeclaredResource, parseResource } from '../../resources/parse-resource.ts'
import {
  API_VERSION,
  RESOURCE_KINDS,
  type ResourceKey,
  type ResourceKind,
  resourceKey,
} from '../../resources/resource.ts'
import type { ManifestError } from '../cluster.ts'

/** A resource and the first line of its document. */
export type LocatedResource = { readonly declared: DeclaredResource; readonly line: number }
export type ConfigMap = {
  readonly namespace: string
  readonly name: string
  readonly data: Readonly<Record<string, string>>
}

export type Manifests = {
  readonly resources: readonly LocatedResource[]
  readonly configMaps: readonly ConfigMap[]
  readonly manifestErrors: readonly ManifestError[]
}

export function manifestOf({ namespace, name, data }: ConfigMap): string {
  return stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data })
}

/** Parses a file of YAML or JSON documents. An invalid document does not affect the others. */
export function readManifests(text: string, file: string): Manifests {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })
  const found = ('empty' in documents ? [] : documents).map((document) => readDocument(document, lines, file))
  return {
    resources: found.flatMap(({ resources = [] }) => resources),
    configMaps: found.flatMap(({ configMaps = [] }) => configMaps),
    manifestErrors: found.flatMap(({ manifestErrors = [] }) => manifestErrors),
  }
}

function readDocument(document: Document, lines: LineCounter, file: string): Partial<Manifests> {
  const { value, error } = contentOf(document)
  if (error !== undefined) {
    return { manifestErrors: [{ file, ...place(lines, error.at), message: `is not YAML: ${error.message}` }] }
  }
  if (value === null) return {}
  const configMap = configMapOf(value)
  if (configMap !== undefined) return { configMaps: [configMap] }
  const { declared, errors } = parseResource(value)
  if (declared !== undefined) return { resources: [{ declared, line: place(lines, startOf(document)).line }] }
  const key = keyIn(value)
  const about = { ...(key !== undefined && { key }), ...(isForeign(value) && ({ isForeign: true } as const)) }
  const manifestErrors = errors.map((fault) => ({
    file,
    ...place(lines, offsetOf(document, fault)),
    message: fault.message,
    ...about,
  }))
  return { manifestErrors: manifestErrors.sort((a, b) => a.line - b.line || a.column - b.column) }
}

/** Whether a document is meant for another program. A misspelled API version of Weir is not. */
function isForeign(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { apiVersion, kind } = value as { readonly apiVersion?: unknown; readonly kind?: unknown }
  if (apiVersion === undefined) return kind === undefined
  return typeof apiVersion === 'string' && !isApiOfWeir(apiVersion)
}

const GROUP_PREFIX = API_VERSION.slice(0, API_VERSION.indexOf('/') + 1)

function isApiOfWeir(apiVersion: string): boolean {
  return apiVersion.startsWith(GROUP_PREFIX) || didYouMean(apiVersion, [API_VERSION]) !== undefined
}

/**
 * The position of a field in the document that begins at this line, or of its nearest enclosing field. The file is
 * parsed again, so that positions need no memory until a field is invalid.
 */
export function positionOfField(
  text: string,
  startLine: number,
  path: FieldError['path'],
): { readonly line: number; readonly column: number } {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })
  const all = 'empty' in documents ? [] : documents
  const document = all.find((one) => place(lines, startOf(one)).line === startLine)
  return document === undefined
    ? { line: startLine, column: 1 }
    : place(lines, offsetOf(document, { path, message: '' }))
}

type Content = { readonly value?: unknown; readonly error?: { readonly message: string; readonly at: number } }

function contentOf(document: Document): Content {
  const [error] = document.errors
  if (error !== undefined) return { error: { message: error.message, at: error.pos[0] } }
  try {
    return { value: document.toJS() }
  } catch (failure) {
    // An unresolved alias, or an excessive number of aliases.
    return { error: { message: (failure as Error).message, at: startOf(document) } }
  }
}

function startOf(document: Document): number {
  return document.contents?.range?.[0] ?? document.range?.[0] ?? 0
}

/** The position of an error: its key or its value, or the nearest enclosing node. */
function offsetOf(document: Document, { path, atKey }: FieldError): number {
  for (let length = path.length; length >= 0; length--) {
    const pair = pairAt(document, path.slice(0, length))
    if (pair === undefined) {
      const node = document.getIn(path.slice(0, length), true)
      if (isNode(node) && node.range) return node.range[0]
      continue
    }
    const wanted = atKey === true || length < path.length || !isScalar(pair.value) ? pair.key : pair.value
    const node = isNode(wanted) ? wanted : pair.key
    if (isNode(node) && node.range) return node.range[0]
  }
  return startOf(document)
}

function pairAt(document: Document, path: readonly (string | number)[]): Pair | undefined {
  const last = path.at(-1)
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (path.length === 0 || !isMap(parent)) return undefined
  return parent.items.find(({ key }) => isScalar(key) && key.value === last)
}

function place(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(1, line), column: Math.max(1, col) }
}

/** The key of an invalid resource, if its kind and name can be read. */
function keyIn(value: unknown): ResourceKey | undefined {
  const { kind, metadata } = (value ?? {}) as { kind?: unknown; metadata?: { name?: unknown; namespace?: unknown } }
  if (!RESOURCE_KINDS.includes(kind as ResourceKind) || typeof metadata?.name !== 'string') return undefined
  const namespace = typeof metadata.namespace === 'string' ? metadata.namespace : 'default'
  return resourceKey(kind as ResourceKind, namespace, metadata.name)
}

/** ConfigMaps are the only other kind that is read: `schemaFrom` and `configFrom` refer to them. */
function configMapOf(value: unknown): ConfigMap | undefined {
  const map = value as {
    apiVersion?: unknown
    kind?: unknown
    metadata?: { name?: unknown; namespace?: unknown }
    data?: unknown
  }
  if (map?.kind !== 'ConfigMap' || map.apiVersion !== 'v1' || typeof map.metadata?.name !== 'string') return undefined
  const namespace = typeof map.metadata.namespace === 'string' ? map.metadata.namespace : 'default'
  const entries = Object.entries(map.data ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return { namespace, name: map.metadata.name, data: Object.fromEntries(entries) }
}
