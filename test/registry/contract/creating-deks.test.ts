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

describe('creating a DEK with its material', () => {
  it.each<readonly [string, RegistryCase]>([
    ['responds with it', { given: [KEK], when: DEK, answer: CREATED_DEK }],
    [
      'takes version and algorithm',
      {
        given: [KEK],
        when: [`POST ${DEKS}/s`, { ...MATERIAL, version: 7, algorithm: 'AES256_SIV' }],
        answer: { ...CREATED_DEK, version: 7, algorithm: 'AES256_SIV' },
      },
    ],
    [
      'takes a version that is a text, as Jackson does',
      {
        given: [KEK],
        when: [`POST ${DEKS}/s`, { ...MATERIAL, version: '7' }],
        answer: { ...CREATED_DEK, version: 7 },
      },
    ],
    [
      'takes the subject of the path',
      { given: [KEK], when: [`POST ${DEKS}/s`, { ...MATERIAL, subject: 'x' }], answer: CREATED_DEK },
    ],
    [
      'takes the subject of the body where the path has none',
      {
        given: [KEK],
        when: [`POST ${DEKS}`, { ...MATERIAL, subject: 's' }],
        answer: CREATED_DEK,
      },
    ],
    ['needs a subject there', { given: [KEK], when: [`POST ${DEKS}`, MATERIAL], ...invalidKey('subject') }],
    [
      'refuses control characters in a subject',
      { given: [KEK], when: [`POST ${DEKS}/a%00`, MATERIAL], ...invalidKey('subject') },
    ],
    [
      'takes the context of the path',
      {
        given: [KEK],
        when: [`POST /contexts/.c${DEKS}/s`, MATERIAL],
        answer: { ...CREATED_DEK, subject: ':.c:s' },
      },
    ],
    [
      'takes the default context by either name',
      { given: [KEK, DEK], when: [`POST ${DEKS}/:.:s`, MATERIAL], ...EXISTS },
    ],
    [
      'follows the alias of a subject',
      {
        given: [KEK, ['PUT /config/s', { alias: 't' }]],
        when: DEK,
        answer: { ...CREATED_DEK, subject: 't' },
      },
    ],
    [
      'follows its alias for DEKs first',
      {
        given: [KEK, ['PUT /config/s', { alias: 't', aliasForDeks: 'u' }]],
        when: DEK,
        answer: { ...CREATED_DEK, subject: 'u' },
      },
    ],
    [
      'follows an alias within the context',
      {
        given: [KEK, ['PUT /config/:.c:s', { aliasForDeks: 'u' }]],
        when: [`POST ${DEKS}/:.c:s`, MATERIAL],
        answer: { ...CREATED_DEK, subject: ':.c:u' },
      },
    ],
    [
      'does not depend on the mode of the subject',
      {
        given: [KEK, ['PUT /mode', { mode: 'READONLY' }]],
        when: DEK,
        answer: CREATED_DEK,
      },
    ],
    ['needs the KEK', { when: DEK, ...NO_KEK }],
    ['needs a KEK that is not soft-deleted', { given: [KEK, DELETE_KEK], when: DEK, ...NO_KEK }],
    [
      'may create a deleted one under a soft-deleted KEK',
      {
        given: [KEK, DELETE_KEK],
        when: [`POST ${DEKS}/s`, { ...MATERIAL, deleted: true }],
        answer: { ...CREATED_DEK, deleted: true },
      },
    ],
    ['needs the material', { given: [KEK], when: GENERATED_DEK, ...invalidKey('encryptedKeyMaterial') }],
    [
      'needs a body',
      { given: [KEK], when: [`POST ${DEKS}/s`], status: 422, answer: { error_code: 422, message: expect.any(String) } },
    ],
    [
      'refuses another algorithm',
      { given: [KEK], when: [`POST ${DEKS}/s`, { ...MATERIAL, algorithm: 'DES' }], ...BAD_BODY },
    ],
    [
      'refuses a version that is no number',
      { given: [KEK], when: [`POST ${DEKS}/s`, { ...MATERIAL, version: 'x' }], ...BAD_BODY },
    ],
    [
      'refuses a version below 1, which the original would never find again',
      {
        given: [KEK],
        when: dekVersion(0),
        ...BAD_VERSION,
      },
    ],
    ['refuses one that exists', { given: [KEK, DEK], when: DEK, ...EXISTS }],
    ['undeletes the same DEK', { given: [KEK, DEK, DELETE_DEK], when: DEK, answer: CREATED_DEK }],
    [
      'does not undelete another one',
      {
        given: [KEK, DEK, DELETE_DEK],
        when: [`POST ${DEKS}/s`, { encryptedKeyMaterial: 'AQIE' }],
        ...EXISTS,
      },
    ],
    [
      'replaces one that exists where rewrapping is asked for',
      {
        given: [KEK, DEK],
        when: [`POST ${DEKS}/s?rewrap=true`, { encryptedKeyMaterial: 'AQIE' }],
        answer: { ...CREATED_DEK, encryptedKeyMaterial: 'AQIE' },
      },
    ],
    [
      'refuses more than the configured number',
      {
        settings: { 'dek.registry.max.keys': '1' },
        given: [KEK, DEK, dekVersion(2)],
        when: dekVersion(3),
        ...errorResponse(40972, 'A maximum of 1 keys already exist'),
      },
    ],
  ])('%s', (_, row) => expectRow(row))
})

describe('creating a DEK whose KEK is shared', () => {
  it.each<readonly [string, RegistryCase]>([
    [
      'generates the key and responds with it',
      { given: [SHARED_KEK], when: GENERATED_DEK, answer: GENERATED_DEK_RESPONSE },
    ],
    ['refuses one that exists', { given: [SHARED_KEK, GENERATED_DEK], when: GENERATED_DEK, ...EXISTS }],
    [
      'generates further versions',
      {
        given: [SHARED_KEK, GENERATED_DEK],
        when: [`POST ${DEKS}/s`, { version: 2 }],
        answer: { ...GENERATED_DEK_RESPONSE, version: 2 },
      },
    ],
    [
      'encrypts one that exists again where rewrapping is asked for',
      {
        given: [SHARED_KEK, GENERATED_DEK],
        when: [`POST ${DEKS}/s?rewrap=true`, {}],
        answer: GENERATED_DEK_RESPONSE,
      },
    ],
    [
      'does not replace one that exists',
      {
        given: [SHARED_KEK, GENERATED_DEK],
        when: [`POST ${DEKS}/s?rewrap=true`, MATERIAL],
        ...EXISTS,
      },
    ],
    [
      'refuses material that the KMS cannot decrypt',
      {
        given: [SHARED_KEK],
        when: DEK,
        ...errorResponse(50070, expect.stringMatching(/^Could not generate raw dek for s: /)),
      },
    ],
    [
      'takes material as it is in mode IMPORT, and does not respond with the key',
      {
        given: [SHARED_KEK, ['PUT /mode/s', { mode: 'IMPORT' }]],
        when: DEK,
        answer: CREATED_DEK,
      },
    ],
    [
      'reports a KMS that is unknown',
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

  it('stores nothing that the KMS cannot decrypt again', () =>
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
