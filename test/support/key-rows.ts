import { expect } from 'vitest'
import { type Request, refusal } from './registry-rows.ts'

// Requests of the DEK registry, and responses, that several tables of rows are made of.

export const KEKS = '/dek-registry/v1/keks'
export const DEKS = `${KEKS}/kek1/deks`

export const NEW_KEK = { name: 'kek1', kmsType: 'test-kms', kmsKeyId: 'myid' }
export const KEK: Request = [`POST ${KEKS}`, NEW_KEK]
export const SHARED_KEK: Request = [`POST ${KEKS}`, { ...NEW_KEK, shared: true }]
export const DELETE_KEK: Request = [`DELETE ${KEKS}/kek1`]

export const MATERIAL = { encryptedKeyMaterial: 'AQID' }
/** Creates a DEK with material of the client. */
export const DEK: Request = [`POST ${DEKS}/s`, MATERIAL]
/** Has the registry generate a DEK. */
export const GENERATED_DEK: Request = [`POST ${DEKS}/s`, {}]
export const dekVersion = (version: number): Request => [`POST ${DEKS}/s`, { ...MATERIAL, version }]
export const DELETE_DEK: Request = [`DELETE ${DEKS}/s`]

/** What creating `DEK` responds with. */
export const THE_DEK = {
  kekName: 'kek1',
  subject: 's',
  version: 1,
  algorithm: 'AES256_GCM',
  ...MATERIAL,
  ts: expect.any(Number),
}
/** A key in base64. */
export const ANY_KEY = expect.stringMatching(/^[\w+/]{40,}={0,2}$/)
/** What creating `GENERATED_DEK` responds with. */
export const OPENED_DEK = { ...THE_DEK, encryptedKeyMaterial: ANY_KEY, keyMaterial: ANY_KEY }

export const NO_KEK = refusal(40470, "Key 'kek1' not found")
export const NO_DEK = refusal(40470, "Key 's' not found")
export const BAD_VERSION = refusal(42202, expect.stringContaining('is not a valid version id'))
export const invalidKey = (field: string) => refusal(42271, `Invalid or missing value for field '${field}' of key`)
