const SECRET_KEY =
  /pass(word|phrase|wd)?$|secret|token|credential|api[._-]?key|private[._-]?key|access[._-]?key|jaas|user\.info$/i

/** What stands in place of a secret wherever people read. */
export const MASK = '[hidden]'

/** Whether a setting of this name holds a secret. */
export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key)
}

/** A copy whose secret values are masked; a placeholder (`${provider:…}`) is no secret. */
export function maskSecrets(config: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, isSecretKey(key) && !isPlaceholder(value) ? MASK : value]),
  )
}

/** Hides every known secret value inside a text: for messages that quote what a library said. */
export function maskText(text: string, secrets: readonly string[]): string {
  return secrets.reduce((masked, secret) => (secret.length > 3 ? masked.replaceAll(secret, MASK) : masked), text)
}

function isPlaceholder(value: string): boolean {
  return /^\$\{[^}]+\}$/.test(value)
}
