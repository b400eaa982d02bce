import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DEK_ALGORITHMS, type DekAlgorithm } from '../../encryption/data-cipher.ts'
import type { DekRequest, DekVersions } from '../dek/dek-commands.ts'
import type { KekUpdate } from '../dek/kek-commands.ts'
import { DEFAULT_ALGORITHM, FIRST_VERSION, type StoredKek } from '../dek/key.ts'
import { invalidKey } from '../dek/key-error.ts'
import {
  integerSpec,
  optionalBooleanSpec,
  optionalTextSpec,
  optionalWordSpec,
  textSpec,
} from '../model/jackson-coercion.ts'
import { invalidVersion, RegistryError } from '../model/registry-error.ts'
import type { Subject } from '../model/subject.ts'
import { parseBody, type Query, stringParameter } from './parse-request.ts'

const NAME_LENGTH_MAX = 256

const propertiesSpec = z.record(z.string(), textSpec).nullish()

const kekSpec = z.object({
  name: optionalTextSpec,
  kmsType: optionalTextSpec,
  kmsKeyId: optionalTextSpec,
  kmsProps: propertiesSpec,
  doc: optionalTextSpec,
  shared: optionalBooleanSpec,
  deleted: optionalBooleanSpec,
})
const kekUpdateSpec = z.object({ kmsProps: propertiesSpec, doc: optionalTextSpec, shared: optionalBooleanSpec })
const dekSpec = z.object({
  subject: optionalTextSpec,
  version: integerSpec(),
  algorithm: optionalWordSpec(DEK_ALGORITHMS),
  encryptedKeyMaterial: optionalTextSpec,
  deleted: optionalBooleanSpec,
})

/** The allowed prefixes of `kmsKeyId` by KMS type. Other types accept any key ID. */
const KEY_ID_PREFIXES: Readonly<Record<string, readonly string[]>> = {
  'aws-kms': ['arn:aws:kms:'],
  'azure-kms': ['https://'],
  'gcp-kms': ['projects/'],
  hcvault: ['https://', 'http://'],
}

/** Parses the body of a request that creates a KEK. Throws `missing_body`, `invalid_body` or `invalid_key`. */
export function parseKek(body: unknown): StoredKek {
  const { name, kmsType, kmsKeyId, kmsProps, doc, shared, deleted } = parseBody(kekSpec, body)
  const kekName = checkKekName(name ?? '')
  if (!kmsKeyId) throw invalidKey('kmsKeyId')
  if (kmsType === undefined || kmsType === null) throw invalidKey('kmsType')
  const prefixes = Object.hasOwn(KEY_ID_PREFIXES, kmsType) ? (KEY_ID_PREFIXES[kmsType] ?? []) : ['']
  if (!prefixes.some((prefix) => kmsKeyId.startsWith(prefix))) throw invalidKey('kmsKeyId')
  return {
    name: kekName,
    kmsType,
    kmsKeyId,
    kmsProps: kmsProps ?? {},
    doc: doc ?? undefined,
    shared: shared ?? false,
    deleted: deleted ?? false,
  }
}

/**
 * Parses the body of a request that updates a KEK. Null removes the properties or the description. Throws
 * `missing_body` or `invalid_body`.
 */
export function parseKekUpdate(body: unknown): KekUpdate {
  const { kmsProps, doc, shared } = parseBody(kekUpdateSpec, body)
  return {
    ...(kmsProps === undefined ? {} : { kmsProps: kmsProps ?? {} }),
    ...(doc === undefined ? {} : { doc: doc ?? undefined }),
    ...(shared === undefined || shared === null ? {} : { shared }),
  }
}

export type DekBody = Omit<DekRequest, 'kekName' | 'subject' | 'rewrap'> & { readonly subject: string | undefined }

/** Parses the body of a request that creates a DEK. Throws `missing_body`, `invalid_body` or `invalid_version`. */
export function parseDek(body: unknown): DekBody {
  const { subject, version, algorithm, encryptedKeyMaterial, deleted } = parseBody(dekSpec, body)
  // Confluent's registry stores such a version, but no request can read it.
  if (version !== undefined && version !== null && version < FIRST_VERSION) throw invalidVersion(String(version))
  return {
    subject: subject ?? undefined,
    version: version ?? FIRST_VERSION,
    algorithm: algorithm ?? DEFAULT_ALGORITHM,
    encryptedKeyMaterial: encryptedKeyMaterial ?? undefined,
    deleted: deleted ?? false,
  }
}

/** Returns `name`. Throws `invalid_key` if it is not a valid KEK name. */
export function checkKekName(name: string): string {
  // Java checks UTF-16 code units: a letter outside the BMP consists of two surrogates, which are not letters.
  const isName = /^[\p{L}_][\p{L}\p{Nd}_-]*$/u.test(name) && !/[\ud800-\udfff]/.test(name)
  if (!isName || name.length > NAME_LENGTH_MAX) throw invalidKey('name')
  return name
}

/** Returns `subject`. Throws `invalid_key` if it is empty or contains control characters. */
export function checkDekSubject<Name extends string>(subject: Name): Name {
  if (subject === '' || /\p{Cc}/u.test(subject)) throw invalidKey('subject')
  return subject
}

/** The `algorithm` query parameter. As in Confluent's registry, an unknown value is a 404 (`no_such_resource`). */
export function algorithmIn(query: Query): DekAlgorithm {
  const word = stringParameter(query, 'algorithm')
  if (word === undefined || word === '') return DEFAULT_ALGORITHM
  const algorithm = DEK_ALGORITHMS.find((known) => known === word)
  if (!algorithm) throw new RegistryError('no_such_resource', 'HTTP 404 Not Found')
  return algorithm
}

export function dekVersionsOf(kekName: string, subject: Subject, { query }: FastifyRequest): DekVersions {
  return { kekName, subject, algorithm: algorithmIn(query as Query) }
}
