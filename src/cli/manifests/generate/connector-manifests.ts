import { type ExpandedConnector, OWNER_KEY } from '../../../clients/worker-client.ts'
import { isSecretSetting } from '../secret-values.ts'
import {
  type GeneratedFile,
  type GeneratedManifests,
  type GeneratedScope,
  manifestFile,
  objectNameFor,
  type RequiredSecret,
} from './generated-manifests.ts'

/** Settings that are fields of `spec`, or that a resource adds itself. */
const FIELDS: ReadonlySet<string> = new Set([
  'name',
  'connector.class',
  'tasks.max',
  'connector.plugin.version',
  OWNER_KEY,
])
const STATES: Readonly<Record<string, string>> = { PAUSED: 'Paused', STOPPED: 'Stopped' }
const DATA_KEY = /[^-._a-zA-Z0-9]/g

/** Connector manifests of all connectors of a worker. Values that may be secret are not written. */
export function connectorManifests(
  connectors: Readonly<Record<string, ExpandedConnector>>,
  scope: GeneratedScope,
): GeneratedManifests {
  const files: GeneratedFile[] = []
  const secrets: RequiredSecret[] = []
  const notes: string[] = []
  for (const [connector, { info, status }] of Object.entries(connectors).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (info === undefined) {
      notes.push(`connector ${connector} has no configuration: it is being deleted`)
      continue
    }
    if (status === undefined) notes.push(`connector ${connector} has no status yet: check the state of its manifest`)
    const name = objectNameFor(scope, connector)
    const { config } = info
    const entries = Object.entries(config).filter(([key]) => !FIELDS.has(key))
    const secret = entries.filter(([key, value]) => isSecretSetting(key, value))
    const plain = entries.filter(([key, value]) => !isSecretSetting(key, value))
    const secretName = `${name}-connector`
    secrets.push(...secret.map(([setting]) => ({ secret: secretName, key: dataKeyFor(setting), connector, setting })))
    notes.push(...noteOn(connector, config))
    const { 'tasks.max': tasksMax, 'connector.plugin.version': version } = config
    const spec = {
      ...(scope.runtime !== 'default' && { workerRef: { name: scope.runtime } }),
      ...(name !== connector && { name: connector }),
      class: config['connector.class'] ?? '',
      ...(tasksMax !== undefined && /^\d{1,9}$/.test(tasksMax) && { tasksMax: Number(tasksMax) }),
      ...(version !== undefined && { version }),
      ...(status !== undefined && STATES[status.connector.state] && { state: STATES[status.connector.state] }),
      adoptionPolicy: 'AdoptIfIdentical',
      ...(plain.length > 0 && { config: Object.fromEntries(plain) }),
      ...(secret.length > 0 && {
        valuesFrom: secret.map(([key]) => ({
          key,
          secretKeyRef: { name: secretName, key: dataKeyFor(key) },
          resolve: 'Operator',
        })),
      }),
    }
    files.push(manifestFile(scope, 'Connector', name, { spec }))
  }
  return { files, secrets, notes }
}

/** The key of a Secret for a setting, whose name may have other characters. */
function dataKeyFor(setting: string): string {
  return setting.replace(DATA_KEY, '_')
}

function noteOn(connector: string, config: Readonly<Record<string, string>>): readonly string[] {
  const tasksMax = config['tasks.max']
  if (tasksMax !== undefined && String(Number(tasksMax)) === tasksMax) return []
  const found = tasksMax === undefined ? 'no tasks.max' : `tasks.max=${tasksMax}`
  return [`connector ${connector} has ${found}: set tasks.max to a whole number on the worker before you apply`]
}
