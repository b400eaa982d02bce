import { createDecipheriv, pbkdf2Sync } from 'node:crypto'
import { createRequire } from 'node:module'
import type * as Cms from '@peculiar/asn1-cms'
import type * as Pfx from '@peculiar/asn1-pfx'
import type * as Schema from '@peculiar/asn1-schema'
import type * as Asn1js from 'asn1js'

const load = createRequire(import.meta.url)
/** Loaded with the first store, because few programs have one and the libraries need 2 MB. */
const libraries = {
  get cms() {
    return load('@peculiar/asn1-cms') as typeof Cms
  },
  get pfx() {
    return load('@peculiar/asn1-pfx') as typeof Pfx
  },
  get schema() {
    return load('@peculiar/asn1-schema') as typeof Schema
  },
  get asn1js() {
    return load('asn1js') as typeof Asn1js
  },
}

/**
 * Reads the certificates of a PKCS#12 store (RFC 7292) as PEM. `node:tls` loads such a store only if it contains a private
 * key, which a truststore does not. Supports unencrypted content and PBES2 with AES, as written by keytool (Java 17) and
 * OpenSSL 3. Throws an `Error` for other encryptions, for a wrong password and for invalid content.
 */
export function readPkcs12Certificates(store: Buffer, password: string): readonly string[] {
  const { authSafe } = libraries.schema.AsnConvert.parse(store, libraries.pfx.PFX)
  return [...libraries.schema.AsnConvert.parse(octetsOf(authSafe), libraries.pfx.AuthenticatedSafe)]
    .flatMap((content) => [
      ...libraries.schema.AsnConvert.parse(safeContentsOf(content, password), libraries.pfx.SafeContents),
    ])
    .filter(({ bagId }) => bagId === libraries.pfx.id_certBag)
    .map(({ bagValue }) =>
      toPem(
        libraries.schema.AsnConvert.parse(
          libraries.schema.AsnConvert.parse(bagValue, libraries.pfx.CertBag).certValue,
          libraries.schema.OctetString,
        ).buffer,
      ),
    )
}

const PBES2 = '1.2.840.113549.1.5.13'
const CIPHERS: Readonly<Record<string, readonly [name: string, keyBytes: number]>> = {
  '2.16.840.1.101.3.4.1.42': ['aes-256-cbc', 32],
  '2.16.840.1.101.3.4.1.22': ['aes-192-cbc', 24],
  '2.16.840.1.101.3.4.1.2': ['aes-128-cbc', 16],
}
const HMACS: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
}
/** Limits the CPU time that a store can cause. keytool writes 10,000 iterations, OpenSSL 2,048. */
const ITERATIONS_MAX = 10_000_000

function octetsOf({ content }: Cms.ContentInfo): ArrayBuffer {
  return libraries.schema.AsnConvert.parse(content, libraries.schema.OctetString).buffer
}

function safeContentsOf(content: Cms.ContentInfo, password: string): ArrayBuffer | Buffer {
  if (content.contentType === libraries.cms.id_data) return octetsOf(content)
  if (content.contentType !== libraries.cms.id_encryptedData)
    throw new Error('its content is encrypted with a certificate, which is not supported')
  // EncryptedData is a version and an EncryptedContentInfo.
  const [, info] = itemsOf(libraries.asn1js.fromBER(content.content).result)
  const { contentEncryptionAlgorithm, encryptedContent } = libraries.schema.AsnConvert.parse(
    derOf(info),
    libraries.cms.EncryptedContentInfo,
  )
  if (contentEncryptionAlgorithm.algorithm !== PBES2) throw unsupportedEncryption(contentEncryptionAlgorithm.algorithm)
  const bytes = encryptedContent?.value ?? encryptedContent?.constructedValue?.[0]
  if (!bytes || !contentEncryptionAlgorithm.parameters) throw new Error('its encrypted content is missing')
  return decrypt(Buffer.from(bytes.buffer), password, contentEncryptionAlgorithm.parameters)
}

/** Decrypts with PBES2 and PBKDF2 (RFC 8018). `parameters` are `PBES2-params` in DER. */
function decrypt(bytes: Buffer, password: string, parameters: ArrayBuffer): Buffer {
  const [derivation, encryption] = itemsOf(libraries.asn1js.fromBER(parameters).result)
  const [salt, iterations, ...options] = itemsOf(itemsOf(derivation)[1])
  const prf = options.find((option) => option instanceof libraries.asn1js.Sequence)
  const hashId = prf && oidOf(itemsOf(prf)[0])
  const hash = hashId === undefined ? 'sha1' : HMACS[hashId]
  if (!hash) throw unsupportedEncryption(hashId)
  const [cipherId, iv] = itemsOf(encryption)
  const [cipher, keyBytes] = CIPHERS[oidOf(cipherId)] ?? []
  if (!cipher || !keyBytes) throw unsupportedEncryption(oidOf(cipherId))
  const iterationCount = iterations instanceof libraries.asn1js.Integer ? iterations.valueBlock.valueDec : 0
  if (iterationCount < 1 || iterationCount > ITERATIONS_MAX)
    throw new Error(`its key derivation has ${iterationCount} iterations, expected 1 to 10,000,000`)
  const key = pbkdf2Sync(password, octetString(salt), iterationCount, keyBytes, hash)
  const decipher = createDecipheriv(cipher, key, octetString(iv))
  try {
    return Buffer.concat([decipher.update(bytes), decipher.final()])
  } catch (error) {
    throw new Error('the password is wrong', { cause: error })
  }
}

function unsupportedEncryption(oid = ''): Error {
  return new Error(`its encryption (${oid}) is not supported: create the store with keytool of Java 17 or OpenSSL 3`)
}

function itemsOf(value: unknown): readonly unknown[] {
  if (value instanceof libraries.asn1js.Sequence) return value.valueBlock.value
  throw new Error('it is not a valid PKCS#12 store')
}

function derOf(value: unknown): Uint8Array<ArrayBuffer> {
  if (value instanceof libraries.asn1js.Sequence) return Uint8Array.from(value.valueBeforeDecodeView)
  throw new Error('it is not a valid PKCS#12 store')
}

function oidOf(value: unknown): string {
  return value instanceof libraries.asn1js.ObjectIdentifier ? value.valueBlock.toString() : ''
}

function octetString(value: unknown): Buffer {
  if (value instanceof libraries.asn1js.OctetString) return Buffer.from(value.valueBlock.valueHexView)
  throw new Error('it is not a valid PKCS#12 store')
}

function toPem(certificate: ArrayBuffer): string {
  const lines = Buffer.from(certificate)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}
