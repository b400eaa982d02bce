import type { ConversionContext } from './conversion-context.ts'
import {
  COMPATIBILITY,
  type ConnectorDraft,
  type ResourceDraft,
  STATES,
  SUBJECT_MODES,
  SUBJECT_SCHEMA_TYPES,
  subjectModeDraft,
} from './drafts.ts'
import { readReference } from './read-reference.ts'
import { loseForeignMetadata, readMetadata } from './source-metadata.ts'
import { isFields, type SourceObject } from './source-object.ts'

const CONNECT_CLUSTER = 'kafka.jikkou.io/connect-cluster'
const NORMALIZE = 'schemaregistry.jikkou.io/normalize-schema'
/** The spelling is Jikkou's. */
const HARD_DELETE = 'schemaregistry.jikkou.io/permanante-delete'
const SET_BY_JIKKOU = 'is set by Jikkou and not needed'

/** Converts a `KafkaConnector` of Jikkou (`kafka.jikkou.io`). */
export function convertJikkouConnector(resource: SourceObject): readonly ConnectorDraft[] {
  const metadata = readMetadata(resource)
  const spec = resource.requiredObject('spec')
  if (metadata === undefined || spec === undefined) return []
  const workerRef = metadata.labels.get(CONNECT_CLUSTER)
  metadata.labels.delete(CONNECT_CLUSTER)
  const draft: ConnectorDraft = {
    kind: 'Connector',
    origin: { document: resource.document, path: resource.path },
    metadata,
    connectorName: metadata.name,
    workerRef,
    config: spec.texts('config'),
    spec: {
      class: spec.text('connectorClass'),
      tasksMax: spec.integer('tasksMax'),
      state: spec.choice('state', STATES),
    },
  }
  loseForeignMetadata(resource, metadata, 'jikkou.io')
  return [draft]
}

/** Converts a `SchemaRegistrySubject` of Jikkou (`schemaregistry.jikkou.io`). */
export function convertJikkouSubject(resource: SourceObject, context: ConversionContext): readonly ResourceDraft[] {
  const metadata = readMetadata(resource)
  const spec = resource.requiredObject('spec')
  if (metadata === undefined || spec === undefined) return []
  const takeFlag = (annotation: string) => {
    const isSet = metadata.annotations.get(annotation) === 'true'
    metadata.annotations.delete(annotation)
    return isSet
  }
  const normalize = takeFlag(NORMALIZE)
  const hardDelete = takeFlag(HARD_DELETE)
  const compatibility = spec.choice('compatibilityLevel', COMPATIBILITY)
  const schema = schemaOf(spec, context)
  // The vendor is information for Jikkou only.
  spec.ignore('schemaRegistry')
  const draft: ResourceDraft = {
    kind: 'Subject',
    origin: { document: resource.document, path: resource.path },
    metadata,
    subject: metadata.name,
    references: spec.objects('references').flatMap((each) => readReference(each)),
    spec: {
      schemaType: spec.choice('schemaType', SUBJECT_SCHEMA_TYPES),
      schema,
      ...(normalize && { normalize }),
      compatibility,
      ...(hardDelete && { deletionPolicy: 'HardDelete' }),
    },
  }
  const mode = spec.choice('mode', SUBJECT_MODES)
  loseForeignMetadata(resource, metadata, 'jikkou.io', {
    'schemaregistry.jikkou.io/url': SET_BY_JIKKOU,
    'schemaregistry.jikkou.io/schema-version': SET_BY_JIKKOU,
    'schemaregistry.jikkou.io/schema-id': SET_BY_JIKKOU,
  })
  const subjects = schema === undefined && compatibility === undefined ? [] : [draft]
  return mode === undefined ? subjects : [...subjects, subjectModeDraft(draft, mode)]
}

/** The text itself, or a file: `$ref: ./orders.avsc`. */
function schemaOf(spec: SourceObject, context: ConversionContext): string | undefined {
  if (!isFields(spec.value('schema'))) return spec.text('schema')
  const reference = spec.object('schema')
  const path = reference?.text('$ref')
  if (reference === undefined || path === undefined) return undefined
  const file = context.readFile(spec.document.file, path)
  if ('text' in file) return file.text
  reference.fail(['$ref'], `${path} ${file.problem}: put the text of the schema into spec.schema`)
  return undefined
}
