import { createDecipheriv, pbkdf2Sync } from 'node:crypto'

/**
 * The certificates in a PKCS#12 store (RFC 7292), as PEM. `node:tls` takes such a store only with a private key in it,
 * which a truststore has not. Read is what keytool (Java 17) and OpenSSL 3 write: nothing encrypted, or PBES2 with AES.
 * Throws an `Error` for everything else, and for a wrong password.
 */
export function readCertificates(store: Buffer, password: string): readonly string[] {
  const [, authenticated] = partsOf(one(store))
  return partsOf(one(contentOf(authenticated)))
    .flatMap((content) => partsOf(one(safeContents(content, password))))
    .flatMap((bag) => certificateIn(bag))
    .map(toPem)
}

// Object identifiers, as they are encoded.
const DATA = '2a864886f70d010701'
const ENCRYPTED_DATA = '2a864886f70d010706'
const CERTIFICATE_BAG = '2a864886f70d010c0a0103'
const PBES2 = '2a864886f70d01050d'
const CIPHERS: Readonly<Record<string, readonly [name: string, keyBytes: number]>> = {
  '60864801650304012a': ['aes-256-cbc', 32],
  '608648016503040116': ['aes-192-cbc', 24],
  '608648016503040102': ['aes-128-cbc', 16],
}
const HMACS: Readonly<Record<string, string>> = {
  '2a864886f70d0207': 'sha1',
  '2a864886f70d0209': 'sha256',
  '2a864886f70d020a': 'sha384',
  '2a864886f70d020b': 'sha512',
}

/** A `ContentInfo` is either plain or encrypted by the password. */
function safeContents(content: Value | undefined, password: string): Buffer {
  const type = oidOf(content && partsOf(content)[0])
  if (type === DATA) return contentOf(content)
  if (type !== ENCRYPTED_DATA) throw new Error('it holds content that is encrypted by a certificate')
  const [, encrypted] = partsOf(one(explicit(content)))
  const [, algorithm, bytes] = partsOf(encrypted)
  const [scheme, parameters] = partsOf(algorithm)
  if (oidOf(scheme) !== PBES2) throw new Error('it is encrypted in a way that is no longer secure')
  const [derivation, encryption] = partsOf(parameters)
  return decrypt(bodyOf(bytes), password, derivation, encryption)
}

function decrypt(bytes: Buffer, password: string, derivation?: Value, encryption?: Value): Buffer {
  const [salt, iterations, ...rest] = partsOf(partsOf(derivation)[1])
  const prf = rest.find(({ tag }) => tag === SEQUENCE)
  const hash = prf ? HMACS[oidOf(partsOf(prf)[0])] : 'sha1'
  const [cipherId, iv] = partsOf(encryption)
  const [cipher, keyBytes] = CIPHERS[oidOf(cipherId)] ?? []
  if (!hash || !cipher || !keyBytes) throw new Error('it is encrypted in a way that is not known here')
  const rounds = Number(`0x${bodyOf(iterations).toString('hex')}`)
  const decipher = createDecipheriv(cipher, pbkdf2Sync(password, bodyOf(salt), rounds, keyBytes, hash), bodyOf(iv))
  try {
    return Buffer.concat([decipher.update(bytes), decipher.final()])
  } catch (error) {
    throw new Error('the password is wrong', { cause: error })
  }
}

function certificateIn(bag: Value): readonly Buffer[] {
  if (oidOf(partsOf(bag)[0]) !== CERTIFICATE_BAG) return []
  return [contentOf(one(explicit(bag)))]
}

function toPem(certificate: Buffer): string {
  const lines = certificate.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

// DER: tag, length, body.
type Value = { readonly tag: number; readonly body: Buffer }
const SEQUENCE = 0x30

function* valuesIn(bytes: Buffer): Generator<Value, void> {
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes.readUInt8(at)
    const short = bytes.readUInt8(at + 1)
    const lengthBytes = short < 0x80 ? 0 : short & 0x7f
    const start = at + 2 + lengthBytes
    const end = start + (lengthBytes === 0 ? short : bytes.readUIntBE(at + 2, lengthBytes))
    if (end > bytes.length) throw new Error('it is cut off')
    yield { tag, body: bytes.subarray(start, end) }
    at = end
  }
}

function one(bytes: Buffer): Value {
  for (const value of valuesIn(bytes)) return value
  throw new Error('it is cut off')
}

function partsOf(value: Value | undefined): readonly Value[] {
  return [...valuesIn(bodyOf(value))]
}

function bodyOf(value: Value | undefined): Buffer {
  if (!value) throw new Error('it is not what a PKCS#12 store holds')
  return value.body
}

function oidOf(value: Value | undefined): string {
  return bodyOf(value).toString('hex')
}

/** The second part of a pair of type and content: the content stands inside a tag of its own. */
function explicit(pair: Value | undefined): Buffer {
  return bodyOf(partsOf(pair)[1])
}

/** Where that content is a string of bytes: these. */
function contentOf(pair: Value | undefined): Buffer {
  return bodyOf(one(explicit(pair)))
}
