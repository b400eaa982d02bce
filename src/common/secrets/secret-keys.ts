/** Replaces a secret in everything that people read. */
export const MASK = '[hidden]'

/** Matched against a key without separators in lower case. */
const SECRET_TEXT =
  /password|passwd|passphrase|passcode|secret|token|credential|authorization|bearer|cookie|jaas|userinfo|connectionstring|(?:api|private|access|account|shared|signing|encryption|keystore|auth|app)key/
/** Too short to be matched inside other words. */
const SECRET_WORDS: ReadonlySet<string> = new Set(['pass', 'pwd', 'psk', 'sas', 'dsn'])
/**
 * A key that ends with one of these describes how to find or use a secret and is not secret itself:
 * `token.endpoint.url`, `secret.name`.
 */
const LAST_WORDS = new Set(
  'class provider enable enabled url uri endpoint file path location directory dir mechanism algorithm algorithms issuer audience mapping type name field fields header source ttl ms seconds minutes size length count max min interval expiry format encoding prefix id'.split(
    ' ',
  ),
)

/**
 * Whether a setting with this name contains a secret, regardless of its spelling: `dbPassword`, `db_passwd`, `API-KEY`.
 */
export function isSecretKey(key: string): boolean {
  const words = key
    .slice(-KEY_LENGTH_MAX)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  if (LAST_WORDS.has(words.at(-1) ?? '')) return false
  const text = words.join('')
  return SECRET_TEXT.test(text) || text.endsWith('pass') || words.some((word) => SECRET_WORDS.has(word))
}

const KEY_LENGTH_MAX = 1_000

type Config = Readonly<Record<string, string>>
type IsSecret = (key: string) => boolean

/**
 * A copy with masked secrets: values of secret keys, and passwords in URLs, secret parameters and HTTP credentials
 * inside other values. A placeholder (`${provider:…}`) is not secret.
 */
export function maskConfig(config: Config, isSecret: IsSecret = isSecretKey): Record<string, string> {
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, maskValue(key, value, isSecret)]))
}

/**
 * Whether a value is the output of `maskConfig`, written back: its masks are at positions that would be masked. A value
 * that contains the mask text elsewhere, such as a replacement string, is not.
 */
export function isMaskedValue(key: string, value: string, isSecret: IsSecret = isSecretKey): boolean {
  return value.includes(MASK) && maskValue(key, value.replaceAll(MASK, 'anything'), isSecret) === value
}

function maskValue(key: string, value: string, isSecret: IsSecret): string {
  if (isSecret(key)) return isPlaceholder(value) || value === '' ? value : MASK
  return maskCredentials(value)
}

/** Masks passwords in URLs, secret parameters and HTTP credentials in a text. */
export function maskCredentials(text: string): string {
  let masked = ''
  let end = 0
  for (const found of credentialSpans(text).sort((a, b) => a.start - b.start)) {
    if (found.start < end) continue
    masked += text.slice(end, found.start) + MASK
    end = found.end
  }
  return masked + text.slice(end)
}

/** The secrets of a configuration: values of secret keys and credentials inside other values, without placeholders. */
export function secretValuesIn(config: Config, isSecret: IsSecret = isSecretKey): readonly string[] {
  return Object.entries(config)
    .flatMap(([key, value]) => (isSecret(key) ? withoutPlaceholders(value) : credentialsIn(value)))
    .filter((value) => !TRIVIAL.test(value))
}

/** The credentials in a text: passwords in URLs, secret parameters, HTTP credentials. */
export function credentialsIn(text: string): readonly string[] {
  return credentialSpans(text).map(({ start, end }) => text.slice(start, end))
}

const TRIVIAL = /^(?:true|false|null|none|\d{1,5})$/i

// All expressions are linear: a match starts at a word boundary, and its parts have a maximum length.

const CREDENTIALS: readonly RegExp[] = [
  // scheme://user:PASSWORD@host
  /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#@:]{0,256}:(?<secret>[^\s/?#]{1,1024})@/dgi,
  // Authorization: Bearer CREDENTIALS
  /(?<!\w)authorization["']?\s{0,4}[=:]\s{0,4}["']?(?:basic|bearer|token|apikey)\s{1,4}(?<secret>[^\s,;"']{1,8192})/dgi,
  // Bearer CREDENTIALS, which look unlike a word
  /(?<!\w)(?:[Bb]asic|BASIC|[Bb]earer|BEARER)\s{1,4}(?=[\w.~+/-]{0,8192}(?:[\d=]|[a-z][A-Z]))(?<secret>[\w.~+/-]{8,8192}={0,2})/dg,
]
/** name=, "name": */
const NAME = /(?<![\w.-])([a-z][\w.-]{0,100})["']?\s{0,4}[=:]\s{0,4}/gi
const VALUE = /"(?<double>[^"]{1,4096})"|'(?<single>[^']{1,4096})'|(?<bare>[^\s,;&"']{1,4096})/dy

type Range = { readonly start: number; readonly end: number }

function credentialSpans(text: string): Range[] {
  const spans: Range[] = []
  const add = (range: readonly [number, number] | undefined) => {
    if (range === undefined) return
    const [start, end] = range
    const value = text.slice(start, end)
    if (!isPlaceholder(value) && value !== MASK && !AUTH_SCHEME.test(value)) spans.push({ start, end })
  }
  for (const pattern of CREDENTIALS) {
    for (const { indices } of text.matchAll(pattern)) add(indices?.groups?.['secret'])
  }
  NAME.lastIndex = 0
  for (let named = NAME.exec(text); named !== null; named = NAME.exec(text)) {
    if (!isSecretKey(named[1] ?? '')) continue
    VALUE.lastIndex = NAME.lastIndex
    const { double, single, bare } = VALUE.exec(text)?.indices?.groups ?? {}
    const range = double ?? single ?? bare
    add(range)
    if (range !== undefined) NAME.lastIndex = range[1]
  }
  return spans
}

const AUTH_SCHEME = /^(?:basic|bearer|token|apikey)\b/i

function isPlaceholder(value: string): boolean {
  return /^\$\{[^}]*:[^}]*\}$/.test(value)
}

function withoutPlaceholders(value: string): readonly string[] {
  return value.split(/\$\{[^}]*:[^}]*\}/).filter((part) => part !== '')
}
