import { divideConfig, type SecretKeyFinder, type SecretSetting } from '../manifests/secret-settings.ts'
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

/** The `spec` of a Connector. Values that are secrets are replaced by references to a Secret. */
export function buildConnector(
  draft: ConnectorDraft,
  name: string,
  secretKeysOf: SecretKeyFinder,
  report: ConversionReport,
): BuiltConnector {
  const { class: className, version, tasksMax, ...others } = draft.spec
  const given = { class: className, version, tasksMax }
  const inConfig = {
    class: draft.config.get('connector.class'),
    version: draft.config.get('connector.plugin.version'),
    tasksMax: tasksMaxOf(draft.config.get('tasks.max'), draft, report),
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
  const usedClass = given.class ?? inConfig.class
  const classSetting = usedClass === undefined ? {} : { 'connector.class': usedClass }
  const { plain, secrets: secretKeys } = divideConfig(
    { ...Object.fromEntries(draft.config), ...classSetting },
    (config) => {
      const isSecretKey = secretKeysOf(config)
      return (key) => draft.secretKeys?.has(key) === true || isSecretKey(key)
    },
  )
  const secretName = `${name.slice(0, SECRET_NAME_MAX)}-secrets`
  const { connectorName } = draft
  return {
    spec: {
      workerRef: draft.workerRef === undefined ? undefined : { name: draft.workerRef },
      name: connectorName === name ? undefined : connectorName,
      class: usedClass,
      version: given.version ?? inConfig.version,
      tasksMax: given.tasksMax ?? inConfig.tasksMax,
      ...others,
      config: Object.keys(plain).length === 0 ? undefined : plain,
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
