import { describe, expect, it } from 'vitest'
import { localKmsDriver } from '../../../src/encryption/local-kms.ts'
import {
  BAD_VERSION,
  CREATED_DEK,
  DEK,
  DEKS,
  DELETE_DEK,
  DELETE_KEK,
  dekVersion,
  GENERATED_DEK,
  GENERATED_DEK_RESPONSE,
  invalidKey,
  KEK,
  KEKS,
  MATERIAL,
  NEW_KEK,
  NO_KEK,
  SHARED_KEK,
} from '../../support/dek-requests.ts'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

const UNKNOWN: Request = [`POST ${KEKS}`, { ...NEW_KEK, kmsType: 'unknown-kms', shared: true }]
const EXISTS = errorResponse(40971, "Key 's' already exists; use a different value")
const BAD_BODY = { status: 400, answer: { error_code: 400, message: expect.any(String) } }

describe('creating a DEK with its key material', () => {
  it.each<readonly [string, RegistryCase]>([
    ['returns the DEK', { given: [KEK], when: DEK, answer: CREATED_DEK }],
    [
      'stores the given version and algorithm',
      {
        given: [KEK],
        when: [`POST ${DEKS}/s`, { ...MATERIAL, version: 7, algorithm: 'AES256_SIV' }],
        answer: { ...CREATED_DEK, version: 7, algorithm: 'AES256_SIV' },
      },
    ],
    [
      'accepts a version as a string, as Jackson does',
      {
        given: [KEK],
        when: [`POST ${DEKS}/s`, { ...MATERIAL, version: '7' }],
        answer: { ...CREATED_DEK, version: 7 },
      },
    ],
    [
      'uses the subject of the path rather than that of the body',
      { given: [KEK], when: [`POST ${DEKS}/s`, { ...MATERIAL, subject: 'x' }], answer: CREATED_DEK },
    ],
    [
      'uses the subject of the body if the path has none',
      {
        given: [KEK],
        when: [`POST ${DEKS}`, { ...MATERIAL, subject: 's' }],
        answer: CREATED_DEK,
      },
    ],
    ['returns 42271 without a subject', { given: [KEK], when: [`POST ${DEKS}`, MATERIAL], ...invalidKey('subject') }],
    [
      'returns 42271 for control characters in a subject',
      { given: [KEK], when: [`POST ${DEKS}/a%00`, MATERIAL], ...invalidKey('subject') },
    ],
    [
      'qualifies the subject with the context of the path',
      {
        given: [KEK],
        when: [`POST /contexts/.c${DEKS}/s`, MATERIAL],
        answer: { ...CREATED_DEK, subject: ':.c:s' },
      },
    ],
    ['treats :.:s and s as the same subject', { given: [KEK, DEK], when: [`POST ${DEKS}/:.:s`, MATERIAL], ...EXISTS }],
    [
      'resolves the alias of the subject',
      {
        given: [KEK, ['PUT /config/s', { alias: 't' }]],
        when: DEK,
        answer: { ...CREATED_DEK, subject: 't' },
      },
    ],
    [
      'prefers aliasForDeks to alias',
      {
        given: [KEK, ['PUT /config/s', { alias: 't', aliasForDeks: 'u' }]],
        when: DEK,
        answer: { ...CREATED_DEK, subject: 'u' },
      },
    ],
    [
      'resolves an alias within the context of the subject',
      {
        given: [KEK, ['PUT /config/:.c:s', { aliasForDeks: 'u' }]],
        when: [`POST ${DEKS}/:.c:s`, MATERIAL],
        answer: { ...CREATED_DEK, subject: ':.c:u' },
      },
    ],
    [
      'succeeds in mode READONLY',
      {
        given: [KEK, ['PUT /mode', { mode: 'READONLY' }]],
        when: DEK,
        answer: CREATED_DEK,
      },
    ],
    ['returns 40470 for an unknown KEK', { when: DEK, ...NO_KEK }],
    ['returns 40470 for a soft-deleted KEK', { given: [KEK, DELETE_KEK], when: DEK, ...NO_KEK }],
    [
      'can create a soft-deleted DEK of a soft-deleted KEK',
      {
        given: [KEK, DELETE_KEK],
        when: [`POST ${DEKS}/s`, { ...MATERIAL, deleted: true }],
        answer: { ...CREATED_DEK, deleted: true },
      },
    ],
    [
      'returns 42271 without key material',
      { given: [KEK], when: GENERATED_DEK, ...invalidKey('encryptedKeyMaterial') },
    ],
    [
      'returns 422 without a body',
      { given: [KEK], when: [`POST ${DEKS}/s`], status: 422, answer: { error_code: 422, message: expect.any(String) } },
    ],
    [
      'returns 400 for an unknown algorithm',
      { given: [KEK], when: [`POST ${DEKS}/s`, { ...MATERIAL, algorithm: 'DES' }], ...BAD_BODY },
    ],
    [
      'returns 400 for a version that is not a number',
      { given: [KEK], when: [`POST ${DEKS}/s`, { ...MATERIAL, version: 'x' }], ...BAD_BODY },
    ],
    [
      'returns 42202 for a version below 1',
      {
        given: [KEK],
        when: dekVersion(0),
        ...BAD_VERSION,
      },
    ],
    ['returns 40971 for an existing DEK', { given: [KEK, DEK], when: DEK, ...EXISTS }],
    [
      'undeletes a soft-deleted DEK with the same key material',
      { given: [KEK, DEK, DELETE_DEK], when: DEK, answer: CREATED_DEK },
    ],
    [
      'returns 40971 if the soft-deleted DEK has other key material',
      {
        given: [KEK, DEK, DELETE_DEK],
        when: [`POST ${DEKS}/s`, { encryptedKeyMaterial: 'AQIE' }],
        ...EXISTS,
      },
    ],
    [
      'replaces an existing DEK with rewrap=true',
      {
        given: [KEK, DEK],
        when: [`POST ${DEKS}/s?rewrap=true`, { encryptedKeyMaterial: 'AQIE' }],
        answer: { ...CREATED_DEK, encryptedKeyMaterial: 'AQIE' },
      },
    ],
    [
      'returns 40972 above dek.registry.max.keys',
      {
        settings: { 'dek.registry.max.keys': '1' },
        given: [KEK, DEK, dekVersion(2)],
        when: dekVersion(3),
        ...errorResponse(40972, 'A maximum of 1 keys already exist'),
      },
    ],
  ])('%s', { tags: ['slow'] }, (_, row) => expectRow(row))
})

describe('creating a DEK of a shared KEK', () => {
  it.each<readonly [string, RegistryCase]>([
    ['generates the key and returns it', { given: [SHARED_KEK], when: GENERATED_DEK, answer: GENERATED_DEK_RESPONSE }],
    ['returns 40971 for an existing DEK', { given: [SHARED_KEK, GENERATED_DEK], when: GENERATED_DEK, ...EXISTS }],
    [
      'generates keys for further versions',
      {
        given: [SHARED_KEK, GENERATED_DEK],
        when: [`POST ${DEKS}/s`, { version: 2 }],
        answer: { ...GENERATED_DEK_RESPONSE, version: 2 },
      },
    ],
    [
      'encrypts an existing key again with rewrap=true',
      {
        given: [SHARED_KEK, GENERATED_DEK],
        when: [`POST ${DEKS}/s?rewrap=true`, {}],
        answer: GENERATED_DEK_RESPONSE,
      },
    ],
    [
      'returns 40971 for key material of an existing DEK, also with rewrap=true',
      {
        given: [SHARED_KEK, GENERATED_DEK],
        when: [`POST ${DEKS}/s?rewrap=true`, MATERIAL],
        ...EXISTS,
      },
    ],
    [
      'returns 50070 for key material that the KMS cannot decrypt',
      {
        given: [SHARED_KEK],
        when: DEK,
        ...errorResponse(50070, expect.stringMatching(/^Could not generate raw dek for s: /)),
      },
    ],
    [
      'stores key material without a test in mode IMPORT, and returns no decrypted key',
      {
        given: [SHARED_KEK, ['PUT /mode/s', { mode: 'IMPORT' }]],
        when: DEK,
        answer: CREATED_DEK,
      },
    ],
    [
      'returns 50070 for an unknown KMS type',
      {
        given: [UNKNOWN],
        when: GENERATED_DEK,
        ...errorResponse(
          50070,
          expect.stringMatching(/^Could not generate encrypted dek for s: no driver for KMS type 'unknown-kms'/),
        ),
      },
    ],
  ])('%s', (_, row) => expectRow(row))

  it('does not store a generated key that the KMS cannot decrypt', () =>
    expectRow({
      faults: { kmsDrivers: [{ type: 'write-only', open: writeOnly }] },
      given: [[`POST ${KEKS}`, { ...NEW_KEK, kmsType: 'write-only', shared: true }]],
      when: GENERATED_DEK,
      ...errorResponse(50070, expect.stringMatching(/^Could not generate raw dek for s: .*it is write-only/)),
      after: { when: [`GET ${DEKS}?deleted=true`], answer: [] },
    }))
})

function writeOnly(key: Parameters<ReturnType<typeof localKmsDriver>['open']>[0]) {
  const kms = localKmsDriver({}).open(key, { secret: 'mysecret' })
  return { ...kms, unwrap: () => Promise.reject(new Error('it is write-only')) }
}
