import { createHash } from 'node:crypto'
import { OWNER_KEY } from '../../clients/worker-client.ts'
import { type SecretReason, secretReasonOf } from './secret-values.ts'

/** A setting whose value belongs into a Secret. */
export type SecretSetting = {
  readonly configKey: string
  /** The key of the value in the Secret. */
  readonly secretKey: string
  readonly reason: SecretReason
}

/** Settings that are fields of `spec`, or that a resource adds itself. */
const FIELDS: ReadonlySet<string> = new Set([
  'name',
  'connector.class',
  'tasks.max',
  'connector.plugin.version',
  OWNER_KEY,
])
const INVALID_IN_KEY = /[^-._a-zA-Z0-9]/g
const KEY_LENGTH_MAX = 253
const HASH_LENGTH = 8

/** Whether a configuration key holds a secret, by its name and by the plugins that the configuration names. */
export type SecretKeyFinder = (config: Readonly<Record<string, string>>) => (key: string) => boolean

/**
 * Divides a configuration as a worker has it, with the class of the connector, into the settings that a manifest has in
 * `spec.config` and those whose values must not be written to a file. Fields of `spec` are in neither.
 */
export function divideConfig(
  config: Readonly<Record<string, string>>,
  secretKeysOf: SecretKeyFinder,
): { readonly plain: Readonly<Record<string, string>>; readonly secrets: readonly SecretSetting[] } {
  const isSecret = secretKeysOf(config)
  const plain: Record<string, string> = {}
  const secrets: SecretSetting[] = []
  for (const [configKey, value] of Object.entries(config)) {
    if (FIELDS.has(configKey)) continue
    const reason = secretReasonOf(configKey, value, isSecret)
    if (reason === undefined) plain[configKey] = value
    else secrets.push({ configKey, secretKey: secretKeyFor(configKey), reason })
  }
  return { plain, secrets }
}

/** A key that a Secret may have. A changed one contains a hash, because two settings may differ in these characters only. */
function secretKeyFor(configKey: string): string {
  const valid = configKey.replace(INVALID_IN_KEY, '_')
  if (valid === configKey && valid.length <= KEY_LENGTH_MAX) return valid
  const hash = createHash('sha256').update(configKey).digest('hex').slice(0, HASH_LENGTH)
  return `${valid.slice(0, KEY_LENGTH_MAX - HASH_LENGTH - 1)}-${hash}`
}
