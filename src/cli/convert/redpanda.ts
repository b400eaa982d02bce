import type { ConversionContext } from './conversion-context.ts'
import { type ResourceDraft, SUBJECT_SCHEMA_TYPES } from './drafts.ts'
import { readReference } from './read-reference.ts'
import { loseForeignMetadata, readMetadata } from './source-metadata.ts'
import type { SourceObject } from './source-object.ts'

const LEVELS = {
  None: 'NONE',
  Backward: 'BACKWARD',
  BackwardTransitive: 'BACKWARD_TRANSITIVE',
  Forward: 'FORWARD',
  ForwardTransitive: 'FORWARD_TRANSITIVE',
  Full: 'FULL',
  FullTransitive: 'FULL_TRANSITIVE',
} as const

/** Converts a `Schema` of the Redpanda operator (`cluster.redpanda.com`). Its subject is the name of the resource. */
export function convertRedpandaSchema(
  resource: SourceObject,
  { isRegistryNamed }: ConversionContext,
): readonly ResourceDraft[] {
  const metadata = readMetadata(resource)
  const spec = resource.requiredObject('spec')
  if (metadata === undefined || spec === undefined) return []
  const schema = spec.requiredText('text')
  const cluster = spec.object('cluster')
  const clusterRef = cluster?.object('clusterRef')
  clusterRef?.ignore('group', 'kind', 'namespace')
  if (isRegistryNamed) cluster?.ignore('staticConfiguration')
  else
    cluster?.loseIfPresent(
      'staticConfiguration',
      'is access to a registry: declare URL, login and TLS in the configuration of the operator',
    )
  const references = spec.objects('references').flatMap((each) => readReference(each))
  const draft: ResourceDraft = {
    kind: 'Subject',
    origin: { document: resource.document, path: resource.path },
    metadata,
    subject: metadata.name,
    registryRef: clusterRef?.text('name'),
    references,
    spec: {
      schemaType: spec.choice('schemaType', SUBJECT_SCHEMA_TYPES),
      schema,
      // The operator of Redpanda sets this level unless another one is declared.
      compatibility: spec.has('compatibilityLevel') ? spec.choice('compatibilityLevel', LEVELS) : 'BACKWARD',
    },
  }
  loseForeignMetadata(resource, metadata, 'redpanda.com')
  return schema === undefined ? [] : [draft]
}
