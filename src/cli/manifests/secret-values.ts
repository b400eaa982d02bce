import { credentialsIn, isSecretKey, MASK, maskConfig } from '../../common/secrets/secret-keys.ts'
import { bitsOf } from './inline-secrets.ts'

const TOKEN = /[A-Za-z0-9+/_=-]{20,}/g
const PLACEHOLDER = /^\$\{[^}]*:[^}]*\}$/
/** Bits per character. Words and class names have less; random hexadecimal digits, letters and base64 have more. */
const ENTROPY_MIN = 3

/** Whether a setting must not be written to a file: its name says so, or its value looks like a password or a key. */
export function isSecretSetting(key: string, value: string): boolean {
  if (value === '' || PLACEHOLDER.test(value)) return false
  return isSecretKey(key) || value.includes(MASK) || credentialsIn(value).length > 0 || hasRandomToken(value)
}

/** A copy of a configuration that may be printed: secrets are masked. */
export function withoutSecrets(config: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const masked = Object.entries(maskConfig(config)).map(([key, value]) => [key, hasRandomToken(value) ? MASK : value])
  return Object.fromEntries(masked)
}

/** Whether a text contains a long part of letters and digits that is unlike a word. */
function hasRandomToken(text: string): boolean {
  return (text.match(TOKEN) ?? []).some(
    (token) => /\d/.test(token) && /[A-Za-z]/.test(token) && bitsOf(token) >= ENTROPY_MIN,
  )
}
