import { SecretMasker } from '../../common/secrets/secret-masker.ts'

/**
 * Masks the secrets that `run` adds in its result and in its error: workers repeat values in traces and in error
 * messages, and both end up in conditions and events.
 */
export async function withSecretsMasked<T>(run: (secrets: SecretMasker) => Promise<T>): Promise<T> {
  const secrets = new SecretMasker()
  try {
    return maskTexts(await run(secrets), secrets) as T
  } catch (error) {
    for (let cause = error; cause instanceof Error; cause = cause.cause) maskError(cause, secrets)
    throw error
  }
}

/** Defines the texts anew: those of a DOMException, which is what ends a request at its timeout, cannot be assigned. */
function maskError(error: Error, secrets: SecretMasker): void {
  const { message, stack = '' } = error
  Object.defineProperty(error, 'message', { value: secrets.mask(message), configurable: true })
  Object.defineProperty(error, 'stack', { value: secrets.mask(stack), configurable: true })
}

/** Fields with text for people. Names and hashes are not masked. */
const TEXT_FIELDS: ReadonlySet<string> = new Set(['message', 'note', 'trace', 'lastRestartReason'])

function maskTexts(data: unknown, secrets: SecretMasker, field = ''): unknown {
  if (typeof data === 'string') return TEXT_FIELDS.has(field) ? secrets.mask(data) : data
  if (Array.isArray(data)) return data.map((item) => maskTexts(item, secrets, field))
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, maskTexts(value, secrets, key)]))
}
