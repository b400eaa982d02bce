import { isSecretKey, MASK } from '../secrets/secret-keys.ts'
import type { SecretMasker } from '../secrets/secret-masker.ts'

/**
 * Masks the secrets in a JSON log line: values known to `secrets`, and all strings of members with secret names. The
 * result is a JSON line. For speed, a line is parsed only if something in it has to be masked.
 */
export function maskLogLine(line: string, secrets: SecretMasker): string {
  if (!SECRET_NAME_IN_LINE.test(line) && secrets.mask(line) === line) return line
  const { level, time, ...fields } = JSON.parse(line) as Record<string, unknown>
  return `${JSON.stringify({ level, time, ...(maskMembers(fields, secrets) as object) })}\n`
}

const SECRET_NAME_IN_LINE =
  /(?:pass|passw|passphrase|passcode|secret|token|credential|authorization|bearer|cookie|jaas|key|info|string|pwd|psk|sas|dsn)[\w.-]{0,100}":"/i

/** Member names of the logger itself. */
const LOGGER_NAMES: ReadonlySet<string> = new Set(['msg', 'err', 'type', 'message', 'stack'])

function maskMembers(data: unknown, secrets: SecretMasker, name = ''): unknown {
  if (typeof data === 'string') return isSecretKey(name) ? MASK : secrets.mask(data)
  if (Array.isArray(data)) return data.map((item) => maskMembers(item, secrets, name))
  if (typeof data !== 'object' || data === null) return secrets.maskData(data)
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      LOGGER_NAMES.has(key) ? key : secrets.mask(key),
      maskMembers(value, secrets, key),
    ]),
  )
}
