import { credentialsIn, isSecretKey, MASK, maskConfig } from '../../common/secrets/secret-keys.ts'

/**
 * Why a value of a configuration is regarded as a secret. `masked`: a worker has replaced it by the mask. `format`: it
 * has the form of a private key or of an access key.
 */
export type SecretReason = 'key' | 'masked' | 'credentials' | 'format' | 'random'

/** A placeholder that a config provider of the worker resolves: `${file:/path:key}`. */
const PLACEHOLDER = /\$\{[^{}:]+:[^{}]*\}/g
/** The header of a private key in PEM, and the id of an access key of AWS. */
const SECRET_FORMATS =
  /-----BEGIN (?:[A-Z]{1,20} ){0,3}PRIVATE KEY-----|(?<![A-Z0-9])A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Z0-9])/
/** The characters of base64 and of its variant for URLs. */
const TOKEN = /[A-Za-z0-9+/_-]{20,512}={0,2}/g
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const HEX_DIGITS = /^[0-9a-f]{32,}$/i
const HEX_BITS_MIN = 3
/** Names of one letter case have fewer bits per character. */
const TOKEN_BITS_MIN = 3.6
/** What separates random characters from names such as `JdbcSinkV2`: at most this share of them are parts of words. */
const WORDS_SHARE_MAX = 0.5
const WORD = /[A-Z]?[a-z]{4,}|[A-Z]{5,}/g
/** With letters of one case, shorter tokens are names with numbers, such as those of pods. */
const SINGLE_CASE_LENGTH_MIN = 24

/**
 * Decides whether a value must not be written to a file: the key holds a secret by its name or its definition, the
 * value contains credentials (`user:password@host`, `password="…"`) or a private key, or a part of it looks random.
 * Placeholders are not secret. `isSecret` decides about keys.
 */
export function secretReasonOf(
  key: string,
  value: string,
  isSecret: (key: string) => boolean = isSecretKey,
): SecretReason | undefined {
  const rest = value.replaceAll(PLACEHOLDER, '')
  if (rest.trim() === '') return undefined
  // A login module is secret because of its passwords only, which placeholders may replace.
  const isModuleWithPlaceholders = rest !== value && /LoginModule\b/.test(rest)
  if (isSecret(key) && !isModuleWithPlaceholders) return 'key'
  if (rest.includes(MASK)) return 'masked'
  if (credentialsIn(rest).some((found) => found.trim() !== '')) return 'credentials'
  if (SECRET_FORMATS.test(rest)) return 'format'
  return [...rest.matchAll(TOKEN)].some(([token]) => looksRandom(token)) ? 'random' : undefined
}

/** A copy of a configuration that may be printed: secrets are masked. `isSecret` decides about keys. */
export function withoutSecrets(
  config: Readonly<Record<string, string>>,
  isSecret: (key: string) => boolean,
): Readonly<Record<string, string>> {
  // Kafka Connect may have stored a null.
  const texts = Object.fromEntries(Object.entries(config).map(([key, value]) => [key, String(value)]))
  const masked = Object.entries(maskConfig(texts, isSecret)).map(([key, value]) => {
    const reason = secretReasonOf(key, value, isSecret)
    return [key, reason === 'format' || reason === 'random' ? MASK : value]
  })
  return Object.fromEntries(masked)
}

function looksRandom(token: string): boolean {
  const digits = /\d/.test(token)
  if (!digits || UUID.test(token)) return false
  if (HEX_DIGITS.test(token)) return /[a-f]/i.test(token) && bitsOf(token) >= HEX_BITS_MIN
  const hasBothCases = /[a-z]/.test(token) && /[A-Z]/.test(token)
  const isSingleCase = /^(?:[a-z\d]+|[A-Z\d]+)$/.test(token) && /[a-z]/i.test(token)
  if (!hasBothCases && !(isSingleCase && token.length >= SINGLE_CASE_LENGTH_MIN)) return false
  return bitsOf(token) >= TOKEN_BITS_MIN && wordsShareOf(token) <= WORDS_SHARE_MAX
}

/** The Shannon entropy of a text, in bits per character. */
function bitsOf(token: string): number {
  const counts = new Map<string, number>()
  for (const character of token) counts.set(character, (counts.get(character) ?? 0) + 1)
  return [...counts.values()].reduce((bits, count) => {
    const share = count / token.length
    return bits - share * Math.log2(share)
  }, 0)
}

function wordsShareOf(token: string): number {
  const letters = token.replace(/[^A-Za-z\d]/g, ' ')
  const words = [...letters.matchAll(WORD)].reduce((sum, [word]) => sum + word.length, 0)
  return words / letters.replaceAll(' ', '').length
}
