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

/** Values of settings that hold secrets, placeholders apart. */
export function secretValuesIn(config: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(config).flatMap(([key, value]) => (isSecretKey(key) && !isPlaceholder(value) ? [value] : []))
}

/** What is too short to be told from other text is no secret. */
const LENGTH_MIN = 4

/** Values that may not be told, as they become known. */
export class Secrets {
  /** The longest first: one may be the beginning of another. */
  #values: readonly string[] = []

  add(values: Iterable<string>): void {
    // As they are, and as they stand in a JSON text.
    const known = [...values].flatMap((value) => [value, JSON.stringify(value).slice(1, -1)])
    const fresh = known.filter((value) => value.length >= LENGTH_MIN && !this.#values.includes(value))
    if (fresh.length === 0) return
    this.#values = [...new Set([...this.#values, ...fresh])].sort((a, b) => b.length - a.length)
  }

  mask(text: string): string {
    return this.#values.reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
  }
}

function isPlaceholder(value: string): boolean {
  return /^\$\{[^}]+\}$/.test(value)
}
