/** The encodings in which a secret may appear in a text. Each returns a text that must be masked. */
export const SECRET_ENCODINGS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  'trimmed and ended by a newline': (secret) => `${secret.trim()}\n`,
  'URL component': encodeURIComponent,
  'URL component in lower case': (secret) => encodeURIComponent(secret).replace(/%../g, (byte) => byte.toLowerCase()),
  form: (secret) => new URLSearchParams({ p: secret }).toString(),
  'user information of a URL': (secret) => {
    const url = new URL('http://host/')
    url.password = secret
    return url.href
  },
  'twice URL-encoded': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  JSON: (secret) => JSON.stringify({ message: secret }),
  'JSON in JSON': (secret) => JSON.stringify({ body: JSON.stringify({ message: secret }) }),
  'JSON in JSON in JSON': (secret) => JSON.stringify([JSON.stringify([JSON.stringify([secret])])]),
  'JSON in ASCII, safe in HTML': (secret) =>
    JSON.stringify(secret).replace(
      /[^ -~]|[<>&'=+]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  'backslashes before punctuation': (secret) => secret.replace(/[^\w\s]/gu, '\\$&'),
  'doubled quotes': (secret) => `'${secret.replaceAll("'", "''")}'`,
  'entities of HTML': (secret) =>
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  'BASIC credentials': (secret) => `Basic ${Buffer.from(`me:${secret}`).toString('base64')}`,
  'BASIC credentials of another user': (secret) => `Basic ${Buffer.from(`admin:${secret}`).toString('base64')}`,
  'base64 of JSON': (secret) => Buffer.from(JSON.stringify({ auth: { password: secret } })).toString('base64'),
  'base64 of base64': (secret) => Buffer.from(Buffer.from(`x:${secret}`).toString('base64')).toString('base64'),
  hexadecimal: (secret) => Buffer.from(secret).toString('hex'),
  'hexadecimal in upper case': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  'bytes as Node inspects them': (secret) => `<Buffer ${Buffer.from(secret).toString('hex').replace(/..\B/g, '$& ')}>`,
  'bytes as JSON': (secret) => JSON.stringify(Buffer.from(secret)),
  'upper case': (secret) => secret.toUpperCase(),
  'lower case': (secret) => secret.toLowerCase(),
  'wrapped lines': (secret) => secret.replace(/.{5}/gu, '$&\n'),
}
