import type { ConnectorDraft } from './drafts.ts'
import { NO_LABELS } from './drafts.ts'
import type { SourceObject } from './source-object.ts'

/** Fields of `GET /connectors/NAME` that describe the running connector. */
const RESPONSE_FIELDS = ['tasks', 'type']

/** Whether a map is a configuration of Kafka Connect: `{name, config}`, or the configuration alone. */
export function isConnectConfig(value: Readonly<Record<string, unknown>>): boolean {
  const config = value['config']
  if (typeof config === 'object' && config !== null && Object.hasOwn(config, 'connector.class')) return true
  return Object.hasOwn(value, 'connector.class')
}

/** Converts a configuration of Kafka Connect's REST API, or of the properties file of `connect-standalone`. */
export function convertConnectConfig(source: SourceObject, fallbackName: string): readonly ConnectorDraft[] {
  const isWrapped = !source.has('connector.class')
  const config = new Map(isWrapped ? source.texts('config') : source.ownTexts())
  const name = (isWrapped ? source.text('name') : undefined) ?? config.get('name') ?? fallbackName
  const initialState = isWrapped ? source.choice('initial_state', INITIAL_STATES) : undefined
  if (isWrapped) source.ignore(...RESPONSE_FIELDS)
  if (name === '') {
    source.fail([], 'has no name: add the key name')
    return []
  }
  return [
    {
      kind: 'Connector',
      origin: { document: source.document, path: source.path },
      metadata: { name, namespace: undefined, labels: NO_LABELS, annotations: NO_LABELS },
      connectorName: name,
      config,
      spec: { state: initialState },
    },
  ]
}

const INITIAL_STATES = { RUNNING: 'Running', PAUSED: 'Paused', STOPPED: 'Stopped' } as const
