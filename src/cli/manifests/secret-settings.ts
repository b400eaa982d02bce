import { createHash } from 'node:crypto'
import { type SecretReason, secretReasonOf } from './secret-values.ts'

/** A setting whose value belongs into a Secret. */
export type SecretSetting = {
  readonly configKey: string
  /** The key of the value in the Secret. */
  readonly secretKey: string
  readonly reason: SecretReason
}

const INVALID_IN_KEY = /[^-._a-zA-Z0-9]/g
const KEY_LENGTH_MAX = 253
const HASH_LENGTH = 8

/** The settings whose values must not be written to a file, each with its own key of a Secret. */
export function secretSettingsOf(
  config: Iterable<readonly [key: string, value: string]>,
  isSecret: (key: string) => boolean,
): readonly SecretSetting[] {
  return [...config].flatMap(([configKey, value]) => {
    const reason = secretReasonOf(configKey, value, isSecret)
    return reason === undefined ? [] : [{ configKey, secretKey: secretKeyFor(configKey), reason }]
  })
}

/** A key that a Secret may have. A changed one contains a hash, because two settings may differ in these characters only. */
function secretKeyFor(configKey: string): string {
  const valid = configKey.replace(INVALID_IN_KEY, '_')
  if (valid === configKey && valid.length <= KEY_LENGTH_MAX) return valid
  const hash = createHash('sha256').update(configKey).digest('hex').slice(0, HASH_LENGTH)
  return `${valid.slice(0, KEY_LENGTH_MAX - HASH_LENGTH - 1)}-${hash}`
}
