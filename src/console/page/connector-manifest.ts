import { API_VERSION } from '../../common/resource-api.ts'
import type { ConnectorConfig } from './wire.ts'

export type ManifestOptions = {
  /** Name of the connector on the worker. */
  readonly connector: string
  readonly config: ConnectorConfig
  /** Name of the resource. Default: made from the name of the connector. */
  readonly name?: string
  readonly namespace?: string
  /** Worker cluster. Default: that of the operator's configuration. */
  readonly worker?: string
  /** State that the worker reports; RUNNING is the default of a resource. */
  readonly state?: string
  /** Keys whose values are secret, by the definitions of their plugin. */
  readonly secretKeys?: ReadonlySet<string>
}

/** Keys that have fields of their own in `spec`, or that the operator sets. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  'name',
  'connector.class',
  'tasks.max',
  'connector.plugin.version',
  'weir.owner',
])
const STATES: Readonly<Record<string, string>> = { PAUSED: 'Paused', STOPPED: 'Stopped' }
const SECRET_KEY = /password|passwd|passphrase|secret|token|credential|jaas|(?:api|private|access|account)[._-]?key/i
/** Words that describe where a secret is found are not secret: `token.endpoint.url`. */
const DESCRIPTION = /(?:class|provider|enabled?|url|uri|path|location|type|name|mechanism|algorithm|ms|size)$/i
const CREDENTIALS = /\/\/[^/\s:@]*:[^/\s@]+@/
const PLACEHOLDER = /^\$\{[^{}]+\}$/
const NAME_MAX = 240

/** The YAML of a Connector resource. Values that are secret are references to a Secret. */
export function connectorManifest(options: ManifestOptions): string {
  const { connector, config, namespace, worker, state, secretKeys } = options
  const name = options.name ?? resourceNameFor(connector)
  const entries = Object.entries(config).flatMap(([key, value]) =>
    OWN_KEYS.has(key) || value === null ? [] : [[key, value] as const],
  )
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  const isSecret = ([key, value]: readonly [string, string]) => holdsSecret(key, value, secretKeys)
  const secrets = entries.filter(isSecret)
  const plain = entries.filter((entry) => !isSecret(entry))
  const { 'connector.class': className, 'tasks.max': tasksMax, 'connector.plugin.version': version } = config
  const secretName = `${name.slice(0, NAME_MAX)}-connector`
  const lines = [
    `apiVersion: ${API_VERSION}`,
    'kind: Connector',
    'metadata:',
    `  name: ${scalar(name)}`,
    ...(namespace === undefined ? [] : [`  namespace: ${scalar(namespace)}`]),
    'spec:',
    ...(worker === undefined ? [] : ['  workerRef:', `    name: ${scalar(worker)}`]),
    ...(name === connector ? [] : [`  name: ${scalar(connector)}`]),
    `  class: ${scalar(className ?? '')}`,
    ...(version ? [`  version: ${scalar(version)}`] : []),
    ...tasksMaxLines(tasksMax ?? undefined),
    ...(STATES[state ?? ''] === undefined ? [] : [`  state: ${STATES[state ?? '']}`]),
    ...(plain.length === 0
      ? []
      : ['  config:', ...plain.map(([key, value]) => `    ${scalar(key)}: ${scalar(value)}`)]),
    ...(secrets.length === 0 ? [] : [`  # Create the Secret ${secretName} with these keys.`, '  valuesFrom:']),
    ...secrets.flatMap(([key]) => [
      `    - key: ${scalar(key)}`,
      '      secretKeyRef:',
      `        name: ${scalar(secretName)}`,
      `        key: ${scalar(key.replace(/[^-._a-zA-Z0-9]/g, '_'))}`,
    ]),
  ]
  return `${lines.join('\n')}\n`
}

function holdsSecret(key: string, value: string, secretKeys: ReadonlySet<string> | undefined): boolean {
  if (PLACEHOLDER.test(value) || value === '') return false
  if (value.includes('[hidden]') || CREDENTIALS.test(value)) return true
  return secretKeys?.has(key) === true || (SECRET_KEY.test(key) && !DESCRIPTION.test(key))
}

function tasksMaxLines(tasksMax: string | undefined): readonly string[] {
  if (tasksMax === undefined) return []
  if (/^\s*\d{1,5}\s*$/.test(tasksMax)) return [`  tasksMax: ${Number(tasksMax)}`]
  return [`  # tasks.max is ${JSON.stringify(tasksMax)}: set tasksMax to a whole number.`]
}

/** A name that Kubernetes accepts: lower case letters, digits, `-` and `.`. */
export function resourceNameFor(connector: string): string {
  const name = connector
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/[-.]*\.[-.]*/g, '.')
    .slice(0, NAME_MAX)
    .replace(/^[-.]+|[-.]+$/g, '')
  return name === '' ? 'connector' : name
}

const PLAIN = /^[A-Za-z][A-Za-z0-9_./-]*$/
/** Words that YAML reads as a boolean or null. */
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n)$/i

/** A text in YAML. A string of JSON is also one of YAML; characters that YAML does not print are escaped. */
function scalar(text: string): string {
  if (PLAIN.test(text) && !RESERVED.test(text)) return text
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
