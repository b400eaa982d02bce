import { stringify } from 'yaml'
import { API_GROUP, API_VERSIONS, DEPRECATED_API_VERSIONS } from '../../../common/resource-api.ts'
import { parseYamlDocuments, type YamlDocument } from '../../../common/yaml-documents.ts'
import { didYouMean } from '../../../config/did-you-mean.ts'
import { type DeclaredResource, parseResource } from '../../resources/parse-resource.ts'
import { RESOURCE_KINDS, type ResourceKey, type ResourceKind, resourceKey } from '../../resources/resource.ts'
import type { ManifestError } from '../cluster.ts'

/** A resource and the first line of its document. */
export type LocatedResource = {
  readonly declared: DeclaredResource
  readonly line: number
  /** `apiVersion` of the manifest, if it is a deprecated one. */
  readonly deprecatedVersion?: string
}
export type ConfigMap = {
  readonly namespace: string
  readonly name: string
  readonly data: Readonly<Record<string, string>>
}

/** A ConfigMap and the first line of its document. */
export type LocatedConfigMap = ConfigMap & { readonly line: number }

export type Manifests = {
  readonly resources: readonly LocatedResource[]
  readonly configMaps: readonly LocatedConfigMap[]
  readonly manifestErrors: readonly ManifestError[]
}

export function manifestOf({ namespace, name, data }: ConfigMap): string {
  return stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data })
}

/** Parses a file of YAML or JSON documents. An invalid document does not affect the others. */
export function readManifests(text: string, file: string): Manifests {
  const found = parseYamlDocuments(text).map((document) => readDocument(document, file))
  return {
    resources: found.flatMap(({ resources = [] }) => resources),
    configMaps: found.flatMap(({ configMaps = [] }) => configMaps),
    manifestErrors: found.flatMap(({ manifestErrors = [] }) => manifestErrors),
  }
}

function readDocument(document: YamlDocument, file: string): Partial<Manifests> {
  const { value, error, start } = document
  if (error !== undefined) {
    const { line, column, message } = error
    return { manifestErrors: [{ file, line, column, message: `is not YAML: ${message}` }] }
  }
  if (value === null) return {}
  const configMap = configMapOf(value)
  if (configMap !== undefined) return { configMaps: [{ ...configMap, line: start.line }] }
  const { declared, errors } = parseResource(value, document.writtenValue)
  if (declared !== undefined) {
    const { apiVersion } = value as { readonly apiVersion: string }
    const isDeprecated = DEPRECATED_API_VERSIONS.includes(apiVersion)
    return { resources: [{ declared, line: start.line, ...(isDeprecated && { deprecatedVersion: apiVersion }) }] }
  }
  const key = keyIn(value)
  const about = { ...(key !== undefined && { key }), ...(isForeign(value) && ({ isForeign: true } as const)) }
  const manifestErrors = errors.map(({ path, atKey = false, message }) => {
    return { file, ...document.positionOf(path, { atKey }), message, ...about }
  })
  return { manifestErrors: manifestErrors.sort((a, b) => a.line - b.line || a.column - b.column) }
}

/** Whether a document is meant for another program. A misspelled API version of Weir is not. */
function isForeign(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { apiVersion, kind } = value as { readonly apiVersion?: unknown; readonly kind?: unknown }
  if (apiVersion === undefined) return kind === undefined
  return typeof apiVersion === 'string' && !isApiOfWeir(apiVersion)
}

function isApiOfWeir(apiVersion: string): boolean {
  return apiVersion.startsWith(`${API_GROUP}/`) || didYouMean(apiVersion, API_VERSIONS) !== undefined
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
