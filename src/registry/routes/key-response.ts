import type { ResponseBody } from '../../http/endpoint.ts'
import type { DekWithMaterial } from '../dek/dek-registry.ts'
import { type Kek, sortedEntries } from '../dek/key.ts'
import type { dek as dekEntity, kek as kekEntity, testedKek } from './entities.ts'

/** A KEK (Confluent's entity `Kek`). Members without a value are omitted. */
export function kekResponse({ timestampMs, deleted, ...kek }: Kek): ResponseBody<typeof kekEntity> {
  return { ...kekMembers(kek), ts: timestampMs, ...(deleted ? { deleted: true } : {}) }
}

/** The response of `POST …/keks/{name}/test`: the stored record of the KEK. */
export function testedKekResponse({ timestampMs, offset, deleted, ...kek }: Kek): ResponseBody<typeof testedKek> {
  return { ...kekMembers(kek), type: 'KEK', deleted, offset, ts: timestampMs }
}

/** A DEK (Confluent's entity `Dek`). It includes the raw key if the registry could decrypt it. */
export function dekResponse({ dek, keyMaterial }: DekWithMaterial): ResponseBody<typeof dekEntity> {
  const { kekName, subject, version, algorithm, encryptedKeyMaterial, timestampMs, deleted } = dek
  return {
    kekName,
    subject,
    version,
    algorithm,
    ...(encryptedKeyMaterial === undefined ? {} : { encryptedKeyMaterial }),
    ...(keyMaterial === undefined ? {} : { keyMaterial }),
    ts: timestampMs,
    ...(deleted ? { deleted: true } : {}),
  }
}

function kekMembers({
  name,
  kmsType,
  kmsKeyId,
  kmsProps,
  doc,
  shared,
}: Omit<Kek, 'timestampMs' | 'offset' | 'deleted'>) {
  return { name, kmsType, kmsKeyId, kmsProps: sortedEntries(kmsProps), ...(doc === undefined ? {} : { doc }), shared }
}
