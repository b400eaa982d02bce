import { OWNER_KEY } from '../../clients/worker-client.ts'
import { type SecretSetting, secretSettingsOf } from '../manifests/secret-settings.ts'
import type { ConversionReport } from './conversion-report.ts'
import type { ConnectorDraft } from './drafts.ts'

/** A Secret that a converted Connector refers to, and that the user creates. */
export type SecretToCreate = {
  readonly name: string
  readonly namespace: string | undefined
  readonly keys: readonly SecretSetting[]
}

export type BuiltConnector = {
  readonly spec: Readonly<Record<string, unknown>>
  readonly secret: SecretToCreate | undefined
}

/** Whether a configuration key holds a secret, by its name and by the plugins of the configuration. */
export type SecretKeyFinder = (config: Readonly<Record<string, string>>) => (key: string) => boolean

/** The `spec` of a Connector. Values that are secrets are replaced by references to a Secret. */
export function buildConnector(
  draft: ConnectorDraft,
  name: string,
  secretKeysOf: SecretKeyFinder,
  report: ConversionReport,
): BuiltConnector {
  const config = new Map(draft.config)
  const take = (key: string): string | undefined => {
    const value = config.get(key)
    config.delete(key)
    return value
  }
  const { class: className, version, tasksMax, ...others } = draft.spec
  const given = { class: className, version, tasksMax }
  const inConfig = {
    class: take('connector.class'),
    version: take('connector.plugin.version'),
    tasksMax: tasksMaxOf(take('tasks.max'), draft, report),
  }
  for (const field of ['class', 'version', 'tasksMax'] as const) {
    const [own, other] = [given[field], inConfig[field]]
    if (own === undefined || other === undefined || own === other) continue
    report.add(
      'note',
      draft.origin.document,
      draft.origin.path,
      `declares ${field} twice: ${own} is used, not ${other}`,
    )
  }
  take('name')
  take(OWNER_KEY)
  const isSecretKey = secretKeysOf(Object.fromEntries(draft.config))
  const secretKeys = secretSettingsOf(config, (key) => draft.secretKeys?.has(key) === true || isSecretKey(key))
  for (const { configKey } of secretKeys) config.delete(configKey)
  const secretName = `${name.slice(0, SECRET_NAME_MAX)}-secrets`
  const { connectorName } = draft
  return {
    spec: {
      workerRef: draft.workerRef === undefined ? undefined : { name: draft.workerRef },
      name: connectorName === name ? undefined : connectorName,
      class: given.class ?? inConfig.class,
      version: given.version ?? inConfig.version,
      tasksMax: given.tasksMax ?? inConfig.tasksMax,
      ...others,
      config: config.size === 0 ? undefined : Object.fromEntries(config),
      valuesFrom:
        secretKeys.length === 0
          ? undefined
          : secretKeys.map(({ configKey, secretKey }) => ({
              key: configKey,
              secretKeyRef: { name: secretName, key: secretKey },
            })),
    },
    secret:
      secretKeys.length === 0 ? undefined : { name: secretName, namespace: draft.metadata.namespace, keys: secretKeys },
  }
}

/** Leaves room for the suffix in a name of 253 characters. */
const SECRET_NAME_MAX = 240

function tasksMaxOf(text: string | undefined, draft: ConnectorDraft, report: ConversionReport): number | undefined {
  if (text === undefined) return undefined
  const tasksMax = /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : undefined
  if (tasksMax === undefined) {
    const { document, path } = draft.origin
    report.add('lost', document, path, `tasks.max '${text}' is not a whole number: set spec.tasksMax`)
  }
  return tasksMax
}
