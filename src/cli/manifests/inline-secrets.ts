import { credentialsIn } from '../../common/secrets/secret-keys.ts'

/** Why a value of a configuration is regarded as a secret. */
export type SecretReason = 'key' | 'credentials' | 'entropy'

/** A placeholder that a config provider of the worker resolves: `${file:/path:key}`. */
const PLACEHOLDER = /\$\{[^{}:]+:[^{}]*\}/g
/** Words in random-looking text; dots and slashes separate class names, paths and URLs. */
const TOKEN = /[A-Za-z0-9+_=-]{24,512}/g
const HEX_TOKEN = /^[0-9a-f]{32,}$/i
/** Bits for each character. English words and class names have less than 3.7, random base64 text more than 4.2. */
const RANDOM_BITS = 4
const RANDOM_HEX_BITS = 3

/**
 * Decides whether a value must not be written to a file: the key holds a secret by its name or its definition, the
 * value contains credentials (`user:password@host`, `password="…"`), or a part of it looks random like a key or a
 * token. A value that consists of placeholders is not secret.
 */
export function secretReasonOf(
  key: string,
  value: string,
  isSecretKey: (key: string) => boolean,
): SecretReason | undefined {
  const rest = value.replaceAll(PLACEHOLDER, '')
  if (rest.trim() === '') return undefined
  // A login module is secret because of its passwords only, which placeholders may replace.
  const isModuleWithPlaceholders = rest !== value && /LoginModule\b/.test(rest)
  if (isSecretKey(key) && !isModuleWithPlaceholders) return 'key'
  if (credentialsIn(rest).some((found) => found.trim() !== '')) return 'credentials'
  return [...rest.matchAll(TOKEN)].some(([token]) => looksRandom(token)) ? 'entropy' : undefined
}

function looksRandom(token: string): boolean {
  if (HEX_TOKEN.test(token)) return /\d/.test(token) && /[a-f]/i.test(token) && bitsOf(token) >= RANDOM_HEX_BITS
  const classes = [/[a-z]/, /[A-Z]/, /\d/].filter((each) => each.test(token)).length
  return classes === 3 && bitsOf(token) >= RANDOM_BITS
}

/** The Shannon entropy of a text, in bits per character. */
export function bitsOf(token: string): number {
  const counts = new Map<string, number>()
  for (const character of token) counts.set(character, (counts.get(character) ?? 0) + 1)
  return [...counts.values()].reduce((bits, count) => {
    const share = count / token.length
    return bits - share * Math.log2(share)
  }, 0)
}
