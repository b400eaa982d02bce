import { type ConnectorDraft, STATES } from './drafts.ts'
import { loseForeignMetadata, readMetadata } from './source-metadata.ts'
import type { SourceObject } from './source-object.ts'

const CLUSTER_LABEL = 'strimzi.io/cluster'
const PAUSE_RECONCILIATION = 'strimzi.io/pause-reconciliation'
const OFFSETS = 'strimzi.io/connector-offsets'
const ONCE = 'is a request that the other operator executes once: it is not needed any more'

/** Converts a `KafkaConnector` of Strimzi (`kafka.strimzi.io`). */
export function convertKafkaConnector(resource: SourceObject): readonly ConnectorDraft[] {
  const metadata = readMetadata(resource)
  const spec = resource.requiredObject('spec')
  if (metadata === undefined || spec === undefined) return []
  const workerRef = metadata.labels.get(CLUSTER_LABEL)
  metadata.labels.delete(CLUSTER_LABEL)
  const isSuspended = metadata.annotations.get(PAUSE_RECONCILIATION) === 'true'
  metadata.annotations.delete(PAUSE_RECONCILIATION)
  const request = metadata.annotations.get(OFFSETS)
  metadata.annotations.delete(OFFSETS)
  const draft: ConnectorDraft = {
    kind: 'Connector',
    origin: { document: resource.document, path: resource.path },
    metadata,
    workerRef,
    config: spec.texts('config'),
    spec: {
      class: spec.text('class'),
      version: spec.text('version'),
      tasksMax: spec.integer('tasksMax'),
      state: stateOf(spec),
      autoRestart: autoRestartOf(spec),
      offsets: offsetsOf(resource, spec, request),
      ...(isSuspended && { suspend: true }),
    },
  }
  loseForeignMetadata(resource, metadata, 'strimzi.io', {
    'strimzi.io/restart': ONCE,
    'strimzi.io/restart-task': ONCE,
  })
  return [draft]
}

/** `pause` is the older spelling of `state: paused`. */
function stateOf(spec: SourceObject): string | undefined {
  const state = spec.choice('state', STATES)
  return state ?? (spec.flag('pause') === true ? 'Paused' : undefined)
}

/** Strimzi restarts nothing unless `autoRestart` is declared; Weir restarts by default. */
function autoRestartOf(spec: SourceObject): unknown {
  const declared = spec.object('autoRestart')
  if (declared === undefined) return { enabled: false }
  const enabled = declared.flag('enabled') ?? true
  const maxRestarts = declared.integer('maxRestarts')
  return { enabled, ...(maxRestarts !== undefined && { maxRestarts }) }
}

/** Offsets are read and written only while an annotation requests it; in Weir, the operation itself is declared. */
function offsetsOf(resource: SourceObject, spec: SourceObject, request: string | undefined): unknown {
  const exported = spec.object('listOffsets')?.object('toConfigMap')?.text('name')
  const altered = spec.object('alterOffsets')?.object('fromConfigMap')?.text('name')
  const at = ['metadata', 'annotations', OFFSETS]
  let operation: unknown
  if (request === 'reset') operation = { id: 'strimzi-reset', type: 'Reset' }
  else if (request === 'alter' && altered !== undefined) {
    operation = { id: 'strimzi-alter', type: 'Alter', offsetsFrom: { configMapKeyRef: { name: altered } } }
  } else if (request === 'list') {
    resource.lose(at, 'annotate the Connector with weir.dev/offsets-export-requested-at to export its offsets')
  } else if (request !== undefined) resource.lose(at, `'${request}' has no counterpart: set spec.offsets.operation`)
  if (altered !== undefined && request !== 'alter') {
    const operationText = `{id: …, type: Alter, offsetsFrom: {configMapKeyRef: {name: ${altered}}}}`
    spec.lose(['alterOffsets'], `is executed on request only: set spec.offsets.operation to ${operationText} then`)
  }
  if (operation === undefined && exported === undefined) return undefined
  return {
    ...(operation !== undefined && { operation }),
    ...(exported !== undefined && { export: { configMapRef: { name: exported } } }),
  }
}
