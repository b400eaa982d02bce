import { z } from 'zod'
import { DEK_ALGORITHMS } from '../../encryption/data-cipher.ts'
import type { DekRequest } from '../dek/dek-commands.ts'
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
import { invalidVersion } from '../model/registry-error.ts'

const NAME_LENGTH_MAX = 256

const propertiesSpec = z.record(z.string(), textSpec).nullish()

/** The allowed prefixes of `kmsKeyId` by KMS type. Other types accept any key ID. */
const KEY_ID_PREFIXES: Readonly<Record<string, readonly string[]>> = {
  'aws-kms': ['arn:aws:kms:'],
  'azure-kms': ['https://'],
  'gcp-kms': ['projects/'],
  hcvault: ['https://', 'http://'],
}

/** The body of a request that creates a KEK. Throws `invalid_key`. */
export const kekBody = z
  .object({
    name: optionalTextSpec,
    kmsType: optionalTextSpec,
    kmsKeyId: optionalTextSpec,
    kmsProps: propertiesSpec,
    doc: optionalTextSpec,
    shared: optionalBooleanSpec,
    deleted: optionalBooleanSpec,
  })
  .transform(({ name, kmsType, kmsKeyId, kmsProps, doc, shared, deleted }): StoredKek => {
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
  })
  .meta({ id: 'NewKek' })

/** The body of a request that updates a KEK. Null removes the properties or the description. */
export const kekUpdateBody = z
  .object({ kmsProps: propertiesSpec, doc: optionalTextSpec, shared: optionalBooleanSpec })
  .transform(
    ({ kmsProps, doc, shared }): KekUpdate => ({
      ...(kmsProps === undefined ? {} : { kmsProps: kmsProps ?? {} }),
      ...(doc === undefined ? {} : { doc: doc ?? undefined }),
      ...(shared === undefined || shared === null ? {} : { shared }),
    }),
  )
  .meta({ id: 'KekUpdate' })

export type DekBody = Omit<DekRequest, 'kekName' | 'subject' | 'rewrap'> & { readonly subject: string | undefined }

/** The body of a request that creates a DEK. Throws `invalid_version`. */
export const dekBody = z
  .object({
    subject: optionalTextSpec,
    version: integerSpec(),
    algorithm: optionalWordSpec(DEK_ALGORITHMS),
    encryptedKeyMaterial: optionalTextSpec,
    deleted: optionalBooleanSpec,
  })
  .transform(({ subject, version, algorithm, encryptedKeyMaterial, deleted }): DekBody => {
    // Confluent's registry stores such a version, but no request can read it.
    if (version !== undefined && version !== null && version < FIRST_VERSION) throw invalidVersion(String(version))
    return {
      subject: subject ?? undefined,
      version: version ?? FIRST_VERSION,
      algorithm: algorithm ?? DEFAULT_ALGORITHM,
      encryptedKeyMaterial: encryptedKeyMaterial ?? undefined,
      deleted: deleted ?? false,
    }
  })
  .meta({ id: 'NewDek' })

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
