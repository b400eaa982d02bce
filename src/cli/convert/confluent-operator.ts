import type { ConversionContext, ObjectContext } from './conversion-context.ts'
import {
  COMPATIBILITY,
  type ConnectorDraft,
  type ReferenceDraft,
  type ResourceDraft,
  SUBJECT_MODES,
  SUBJECT_SCHEMA_TYPES,
  type SubjectDraft,
  subjectModeDraft,
} from './drafts.ts'
import { loseForeignMetadata, readMetadata } from './source-metadata.ts'
import type { SourceObject } from './source-object.ts'

const DOMAIN = 'platform.confluent.io'
/** The key of the ConfigMap of a `Schema` that has its text. */
const SCHEMA_KEY = 'schema'
const RUNTIME_ACCESS = 'is access to a runtime: declare URL, login and TLS in the configuration of the operator'
/** Fields of blueprints that name stores of certificates and credentials for the access to the runtime. */
const ACCESS_FIELDS = ['connectRest', 'schemaRegistryRest', 'certificateStoreConfigs', 'credentialStoreConfigs']

/** Converts a `Connector` of Confluent for Kubernetes, also of its blueprints (`apps.cpc.platform.confluent.io`). */
export function convertConfluentConnector(
  resource: SourceObject,
  { isWorkerNamed }: ConversionContext,
): readonly ConnectorDraft[] {
  const metadata = readMetadata(resource)
  const spec = resource.requiredObject('spec')
  if (metadata === undefined || spec === undefined) return []
  const declared = spec.object('connectorConfigs') ?? spec
  const draft: ConnectorDraft = {
    kind: 'Connector',
    origin: { document: resource.document, path: resource.path },
    metadata,
    connectorName: spec.text('name') ?? metadata.name,
    workerRef: clusterName(spec, 'connectClusterRef'),
    config: declared.texts('configs'),
    spec: {
      class: declared.text('class'),
      tasksMax: declared.integer('taskMax'),
      autoRestart: autoRestartOf(spec),
    },
  }
  loseAccess(spec, isWorkerNamed)
  loseForeignMetadata(resource, metadata, DOMAIN)
  return [draft]
}

function autoRestartOf(spec: SourceObject): unknown {
  const policy = spec.object('restartPolicy') ?? spec.object('actionPolicy')?.object('restart')
  const type = policy?.choice('type', { OnFailure: 'on', Never: 'off' })
  const maxRestarts = policy?.integer('maxRetry')
  if (policy === undefined) return undefined
  return { enabled: type !== 'off', ...(maxRestarts !== undefined && { maxRestarts }) }
}

/** Converts a `Schema` of Confluent for Kubernetes. Its text is in a ConfigMap. */
export function convertConfluentSchema(resource: SourceObject, context: ObjectContext): readonly ResourceDraft[] {
  const metadata = readMetadata(resource)
  const spec = resource.requiredObject('spec')
  if (metadata === undefined || spec === undefined) return []
  const subject = spec.text('name') ?? metadata.name
  const data = spec.requiredObject('data')
  const configMap = data?.requiredText('configRef')
  if (data === undefined || configMap === undefined) return []
  const schema = context.configMapText(metadata.namespace, configMap, SCHEMA_KEY)
  if (schema === undefined) {
    data.note(['configRef'], `ConfigMap ${configMap} is not part of the input: the Subject reads it in the cluster`)
  }
  const draft: SubjectDraft = {
    kind: 'Subject',
    origin: { document: resource.document, path: resource.path },
    metadata,
    subject,
    registryRef: clusterName(spec, 'schemaRegistryClusterRef'),
    references: spec.objects('schemaReferences').flatMap(referenceOf),
    spec: {
      schemaType: data.choice('format', SUBJECT_SCHEMA_TYPES),
      ...(schema === undefined
        ? { schemaFrom: { configMapKeyRef: { name: configMap, key: SCHEMA_KEY } } }
        : { schema }),
      normalize: spec.flag('normalize'),
      compatibility: spec.choice('compatibilityLevel', COMPATIBILITY),
    },
  }
  const mode = spec.choice('mode', SUBJECT_MODES)
  loseAccess(spec, context.isRegistryNamed)
  loseForeignMetadata(resource, metadata, DOMAIN)
  return mode === undefined ? [draft] : [draft, subjectModeDraft(draft, mode)]
}

/** The name by which the schema refers to the other one depends on the format. */
function referenceOf(reference: SourceObject): readonly ReferenceDraft[] {
  reference.ignore('format')
  const subject = reference.requiredText('subject')
  const inFormat =
    reference.object('avro')?.text('avro') ??
    reference.object('protobuf')?.text('file') ??
    reference.object('json')?.text('url')
  const name = inFormat ?? reference.text('name')
  reference.ignore('name')
  const text = reference.text('version')
  const version = text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined
  if (text !== undefined && version === undefined && text !== 'latest') {
    reference.lose(['version'], `'${text}' is not a version: expected a number or latest`)
  }
  if (subject === undefined) return []
  if (name === undefined) {
    reference.lose([], 'has no name: add the name by which the schema refers to it in spec.references')
    return []
  }
  return [{ name, subject, version, origin: { document: reference.document, path: reference.path } }]
}

function loseAccess(spec: SourceObject, isRuntimeNamed: boolean): void {
  if (isRuntimeNamed) spec.ignore(...ACCESS_FIELDS)
  else for (const field of ACCESS_FIELDS) spec.loseIfPresent(field, RUNTIME_ACCESS)
}

function clusterName(spec: SourceObject, field: string): string | undefined {
  const reference = spec.object(field)
  reference?.ignore('namespace')
  return reference?.text('name')
}
