import type { ConnectorProperties, ExpandedConnector } from '../../../clients/worker-client.ts'
import { divideConfig, type SecretKeyFinder } from '../secret-settings.ts'
import {
  type GeneratedFile,
  type GeneratedManifests,
  type GeneratedScope,
  manifestFile,
  objectNameFor,
  type RequiredSecret,
} from './generated-manifests.ts'

const STATES: Readonly<Record<string, string>> = { PAUSED: 'Paused', STOPPED: 'Stopped' }

/**
 * Connector manifests of all connectors of a worker. Values that may be secret are not written. `secretKeysOf`: the keys
 * that hold secrets by their names, and by the definitions of the plugins of a configuration.
 */
export function connectorManifests(
  connectors: Readonly<Record<string, ExpandedConnector>>,
  scope: GeneratedScope,
  secretKeysOf: SecretKeyFinder,
): GeneratedManifests {
  const files: GeneratedFile[] = []
  const secrets: RequiredSecret[] = []
  const notes: string[] = []
  for (const [connector, found] of Object.entries(connectors).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { info, status } = found
    notes.push(...notesOn(connector, found))
    if (info === undefined) continue
    const name = objectNameFor(scope, connector)
    const config = withoutNulls(info.config)
    const { plain, secrets: secret } = divideConfig(config, secretKeysOf)
    const secretName = `${name}-connector`
    secrets.push(
      ...secret.map(({ configKey, secretKey }) => ({
        secret: secretName,
        key: secretKey,
        connector,
        setting: configKey,
      })),
    )
    const { 'tasks.max': tasksMax, 'connector.plugin.version': version } = config
    const spec = {
      ...(scope.runtime !== 'default' && { workerRef: { name: scope.runtime } }),
      ...(name !== connector && { name: connector }),
      class: config['connector.class'] ?? '',
      ...(tasksMax !== undefined && isWholeNumber(tasksMax) && { tasksMax: Number(tasksMax) }),
      ...(version !== undefined && { version }),
      ...(status !== undefined && STATES[status.connector.state] && { state: STATES[status.connector.state] }),
      ...(hasFailed(status) && { autoRestart: { enabled: false } }),
      adoptionPolicy: 'AdoptIfIdentical',
      ...(Object.keys(plain).length > 0 && { config: plain }),
      ...(secret.length > 0 && {
        valuesFrom: secret.map(({ configKey, secretKey }) => ({
          key: configKey,
          secretKeyRef: { name: secretName, key: secretKey },
          resolve: 'Operator',
        })),
      }),
    }
    files.push(manifestFile(scope, 'Connector', name, { spec }))
  }
  return { files, secrets, notes }
}

/** Kafka Connect stores a null that somebody has sent, although it is no value of a setting. */
function withoutNulls(config: ConnectorProperties): ConnectorProperties {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null))
}

function hasFailed(status: ExpandedConnector['status']): boolean {
  return status !== undefined && [status.connector, ...status.tasks].some(({ state }) => state === 'FAILED')
}

function isWholeNumber(value: string): boolean {
  return /^\s*\+?\d{1,9}\s*$/.test(value)
}

function notesOn(connector: string, { info, status }: ExpandedConnector): readonly string[] {
  if (info === undefined) return [`connector ${connector} has no configuration: it is being deleted`]
  const nulls = Object.keys(info.config).filter((key) => info.config[key] === null)
  const { 'tasks.max': tasksMax } = withoutNulls(info.config)
  return [
    ...(status === undefined ? [`connector ${connector} has no status yet: check the state of its manifest`] : []),
    ...(tasksMax === undefined || isWholeNumber(tasksMax)
      ? []
      : [`connector ${connector} has tasks.max=${tasksMax}: set it to a whole number on the worker before you apply`]),
    ...(nulls.length === 0
      ? []
      : [
          `connector ${connector} has null for ${nulls.join(', ')}, which no manifest declares: remove it on the worker before you apply`,
        ]),
    ...(hasFailed(status)
      ? [
          `connector ${connector} has failed: its manifest disables autoRestart, so that applying it does not restart it`,
        ]
      : []),
  ]
}
