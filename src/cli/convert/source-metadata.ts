import { SERVER_FIELDS } from '../../operator/main.ts'
import type { SourceObject } from './source-object.ts'

/** The manifest as kubectl applied it, which repeats the whole object. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** The metadata of an object of another system. Converters remove the labels and annotations that they handle. */
export type SourceMetadata = {
  readonly name: string
  readonly namespace: string | undefined
  readonly labels: Map<string, string>
  readonly annotations: Map<string, string>
}

/** Undefined, and reported, if the object has no name. */
export function readMetadata(resource: SourceObject): SourceMetadata | undefined {
  resource.ignore('apiVersion', 'kind', 'status')
  const metadata = resource.object('metadata')
  if (metadata === undefined) {
    resource.fail(['metadata'], 'is missing, so the resource cannot be converted')
    return undefined
  }
  metadata.ignore(...SERVER_FIELDS)
  const name = metadata.requiredText('name')
  const annotations = new Map(metadata.texts('annotations'))
  annotations.delete(LAST_APPLIED)
  const namespace = metadata.text('namespace')
  const labels = new Map(metadata.texts('labels'))
  return name === undefined ? undefined : { name, namespace, labels, annotations }
}

/**
 * Removes and reports labels and annotations of the other system that no converter handled. Others stay. For `harmless`
 * ones the message says why nothing is lost.
 */
export function loseForeignMetadata(
  resource: SourceObject,
  { labels, annotations }: SourceMetadata,
  domain: string,
  harmless: Readonly<Record<string, string>> = {},
): void {
  for (const [field, entries] of [
    ['labels', labels],
    ['annotations', annotations],
  ] as const) {
    for (const key of [...entries.keys()]) {
      const prefix = key.split('/')[0] ?? ''
      if (!key.includes('/') || !(prefix === domain || prefix.endsWith(`.${domain}`))) continue
      entries.delete(key)
      const path = ['metadata', field, key]
      if (harmless[key] !== undefined) resource.note(path, harmless[key])
      else resource.lose(path, 'has no counterpart in Weir: check whether it is still needed')
    }
  }
}
