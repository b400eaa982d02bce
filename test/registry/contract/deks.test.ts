import { describe, expect, it } from 'vitest'
import { localKmsDriver } from '../../../src/encryption/local-kms.ts'
import { type Request, type Row, refusal, rowPlayer } from '../../support/registry-rows.ts'

const expectRow = rowPlayer()

const KEKS = '/dek-registry/v1/keks'
const DEKS = `${KEKS}/kek1/deks`
const NEW_KEK = { name: 'kek1', kmsType: 'test-kms', kmsKeyId: 'myid' }
const KEK: Request = [`POST ${KEKS}`, NEW_KEK]
const SHARED: Request = [`POST ${KEKS}`, { ...NEW_KEK, shared: true }]
const UNKNOWN: Request = [`POST ${KEKS}`, { ...NEW_KEK, kmsType: 'unknown-kms', shared: true }]
const DELETE_KEK: Request = [`DELETE ${KEKS}/kek1`]
const MATERIAL = { encryptedKeyMaterial: 'AQID' }
const CREATE: Request = [`POST ${DEKS}/s`, MATERIAL]
const GENERATE: Request = [`POST ${DEKS}/s`, {}]
const DELETE: Request = [`DELETE ${DEKS}/s`]
const version = (number: number): Request => [`POST ${DEKS}/s`, { ...MATERIAL, version: number }]
const deleteVersion = (which: number | string): Request => [`DELETE ${DEKS}/s/versions/${which}`]

const DEK = { kekName: 'kek1', subject: 's', version: 1, algorithm: 'AES256_GCM', ...MATERIAL, ts: expect.any(Number) }
/** A key in base64. */
const KEY = expect.stringMatching(/^[\w+/]{40,}={0,2}$/)
const OPENED = { ...DEK, encryptedKeyMaterial: KEY, keyMaterial: KEY }

const NO_KEK = refusal(40470, "Key 'kek1' not found")
const NO_DEK = refusal(40470, "Key 's' not found")
const EXISTS = refusal(40971, "Key 's' already exists; use a different value")
const invalid = (field: string) => refusal(42271, `Invalid or missing value for field '${field}' of key`)
const KMS_UNKNOWN = refusal(50070, expect.stringMatching(/^Could not generate raw dek for s: no driver for KMS type/))
const NO_SUCH = refusal(404, 'HTTP 404 Not Found', 404)
const BAD_BODY = { status: 400, answer: { error_code: 400, message: expect.any(String) } }
const BAD_VERSION = refusal(42202, expect.stringContaining('is not a valid version id'))
const DONE = { status: 204, answer: undefined }

describe('creating a DEK with its material', () => {
  it.each<readonly [string, Row]>([
    ['responds with it', { given: [KEK], when: CREATE, answer: DEK }],
    [
      'takes version and algorithm',
      {
        given: [KEK],
        when: [`POST ${DEKS}/s`, { ...MATERIAL, version: 7, algorithm: 'AES256_SIV' }],
        answer: { ...DEK, version: 7, algorithm: 'AES256_SIV' },
      },
    ],
    [
      'takes a version that is a text, as Jackson does',
      {
        given: [KEK],
        when: [`POST ${DEKS}/s`, { ...MATERIAL, version: '7' }],
        answer: { ...DEK, version: 7 },
      },
    ],
    [
      'takes the subject of the path',
      { given: [KEK], when: [`POST ${DEKS}/s`, { ...MATERIAL, subject: 'x' }], answer: DEK },
    ],
    [
      'takes the subject of the body where the path has none',
      {
        given: [KEK],
        when: [`POST ${DEKS}`, { ...MATERIAL, subject: 's' }],
        answer: DEK,
      },
    ],
    ['needs a subject there', { given: [KEK], when: [`POST ${DEKS}`, MATERIAL], ...invalid('subject') }],
    [
      'refuses control characters in a subject',
      { given: [KEK], when: [`POST ${DEKS}/a%00`, MATERIAL], ...invalid('subject') },
    ],
    [
      'takes the context of the path',
      {
        given: [KEK],
        when: [`POST /contexts/.c${DEKS}/s`, MATERIAL],
        answer: { ...DEK, subject: ':.c:s' },
      },
    ],
    [
      'takes the default context by either name',
      { given: [KEK, CREATE], when: [`POST ${DEKS}/:.:s`, MATERIAL], ...EXISTS },
    ],
    [
      'follows the alias of a subject',
      {
        given: [KEK, ['PUT /config/s', { alias: 't' }]],
        when: CREATE,
        answer: { ...DEK, subject: 't' },
      },
    ],
    [
      'follows its alias for DEKs first',
      {
        given: [KEK, ['PUT /config/s', { alias: 't', aliasForDeks: 'u' }]],
        when: CREATE,
        answer: { ...DEK, subject: 'u' },
      },
    ],
    [
      'follows an alias within the context',
      {
        given: [KEK, ['PUT /config/:.c:s', { aliasForDeks: 'u' }]],
        when: [`POST ${DEKS}/:.c:s`, MATERIAL],
        answer: { ...DEK, subject: ':.c:u' },
      },
    ],
    [
      'does not depend on the mode of the subject',
      {
        given: [KEK, ['PUT /mode', { mode: 'READONLY' }]],
        when: CREATE,
        answer: DEK,
      },
    ],
    ['needs the KEK', { when: CREATE, ...NO_KEK }],
    ['needs a KEK that is not soft-deleted', { given: [KEK, DELETE_KEK], when: CREATE, ...NO_KEK }],
    [
      'may create a deleted one under a soft-deleted KEK',
      {
        given: [KEK, DELETE_KEK],
        when: [`POST ${DEKS}/s`, { ...MATERIAL, deleted: true }],
        answer: { ...DEK, deleted: true },
      },
    ],
    ['needs the material', { given: [KEK], when: GENERATE, ...invalid('encryptedKeyMaterial') }],
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
        when: version(0),
        ...BAD_VERSION,
      },
    ],
    ['refuses one that exists', { given: [KEK, CREATE], when: CREATE, ...EXISTS }],
    ['undeletes the same DEK', { given: [KEK, CREATE, DELETE], when: CREATE, answer: DEK }],
    [
      'does not undelete another one',
      {
        given: [KEK, CREATE, DELETE],
        when: [`POST ${DEKS}/s`, { encryptedKeyMaterial: 'AQIE' }],
        ...EXISTS,
      },
    ],
    [
      'replaces one that exists where rewrapping is asked for',
      {
        given: [KEK, CREATE],
        when: [`POST ${DEKS}/s?rewrap=true`, { encryptedKeyMaterial: 'AQIE' }],
        answer: { ...DEK, encryptedKeyMaterial: 'AQIE' },
      },
    ],
    [
      'refuses more than the configured number',
      {
        settings: { 'dek.registry.max.keys': '1' },
        given: [KEK, CREATE, version(2)],
        when: version(3),
        ...refusal(40972, 'A maximum of 1 keys already exist'),
      },
    ],
  ])('%s', (_, row) => expectRow(row))
})

describe('creating a DEK whose KEK is shared', () => {
  it.each<readonly [string, Row]>([
    ['generates the key and responds with it', { given: [SHARED], when: GENERATE, answer: OPENED }],
    ['refuses one that exists', { given: [SHARED, GENERATE], when: GENERATE, ...EXISTS }],
    [
      'generates further versions',
      {
        given: [SHARED, GENERATE],
        when: [`POST ${DEKS}/s`, { version: 2 }],
        answer: { ...OPENED, version: 2 },
      },
    ],
    [
      'encrypts one that exists again where rewrapping is asked for',
      {
        given: [SHARED, GENERATE],
        when: [`POST ${DEKS}/s?rewrap=true`, {}],
        answer: OPENED,
      },
    ],
    [
      'does not replace one that exists',
      {
        given: [SHARED, GENERATE],
        when: [`POST ${DEKS}/s?rewrap=true`, MATERIAL],
        ...EXISTS,
      },
    ],
    [
      'refuses material that the KMS cannot decrypt',
      {
        given: [SHARED],
        when: CREATE,
        ...refusal(50070, expect.stringMatching(/^Could not generate raw dek for s: /)),
      },
    ],
    [
      'takes material as it is in mode IMPORT, and does not respond with the key',
      {
        given: [SHARED, ['PUT /mode/s', { mode: 'IMPORT' }]],
        when: CREATE,
        answer: DEK,
      },
    ],
    [
      'reports a KMS that is unknown',
      {
        given: [UNKNOWN],
        when: GENERATE,
        ...refusal(
          50070,
          expect.stringMatching(/^Could not generate encrypted dek for s: no driver for KMS type 'unknown-kms'/),
        ),
      },
    ],
  ])('%s', (_, row) => expectRow(row))

  it('stores nothing that the KMS cannot decrypt again', () =>
    expectRow({
      trouble: { kmsDrivers: [{ type: 'write-only', open: writeOnly }] },
      given: [[`POST ${KEKS}`, { ...NEW_KEK, kmsType: 'write-only', shared: true }]],
      when: GENERATE,
      ...refusal(50070, expect.stringMatching(/^Could not generate raw dek for s: .*it is write-only/)),
      after: { when: [`GET ${DEKS}?deleted=true`], answer: [] },
    }))
})

function writeOnly(key: Parameters<ReturnType<typeof localKmsDriver>['open']>[0]) {
  const kms = localKmsDriver({}).open(key, { secret: 'mysecret' })
  return { ...kms, unwrap: () => Promise.reject(new Error('it is write-only')) }
}

describe('reading DEKs', () => {
  const SIV: Request = [`POST ${DEKS}/s`, { ...MATERIAL, algorithm: 'AES256_SIV', version: 3 }]
  const OTHER: Request = [`POST ${DEKS}/a`, MATERIAL]
  const IN_CONTEXT: Request = [`POST ${DEKS}/:.c:s`, MATERIAL]
  it.each<readonly [string, Row]>([
    [
      'finds the first version, not the latest',
      { given: [KEK, CREATE, version(2)], when: [`GET ${DEKS}/s`], answer: DEK },
    ],
    [
      'finds it in the context of the path',
      {
        given: [KEK, IN_CONTEXT],
        when: [`GET /contexts/.c${DEKS}/s`],
        answer: { ...DEK, subject: ':.c:s' },
      },
    ],
    [
      'finds it by an alias',
      {
        given: [KEK, CREATE, ['PUT /config/x', { aliasForDeks: 's' }]],
        when: [`GET ${DEKS}/x`],
        answer: DEK,
      },
    ],
    ['needs the KEK', { when: [`GET ${DEKS}/s`], ...NO_KEK }],
    ['finds none', { given: [KEK], when: [`GET ${DEKS}/s`], ...NO_DEK }],
    ['finds none of another algorithm', { given: [KEK, SIV], when: [`GET ${DEKS}/s/versions/3`], ...NO_DEK }],
    [
      'finds that of the algorithm',
      {
        given: [KEK, SIV],
        when: [`GET ${DEKS}/s/versions/3?algorithm=AES256_SIV`],
        answer: { ...DEK, version: 3, algorithm: 'AES256_SIV' },
      },
    ],
    ['knows no other algorithm', { given: [KEK, CREATE], when: [`GET ${DEKS}/s?algorithm=DES`], ...NO_SUCH }],
    [
      'finds a version',
      { given: [KEK, CREATE, version(2)], when: [`GET ${DEKS}/s/versions/2`], answer: { ...DEK, version: 2 } },
    ],
    ['finds no other version', { given: [KEK, CREATE], when: [`GET ${DEKS}/s/versions/2`], ...NO_DEK }],
    ...['latest', '-1'].map((which): readonly [string, Row] => [
      `finds the last version as ${which}`,
      {
        given: [KEK, version(10), version(9)],
        when: [`GET ${DEKS}/s/versions/${which}`],
        answer: { ...DEK, version: 10 },
      },
    ]),
    [
      'finds the last one that is not soft-deleted',
      {
        given: [KEK, CREATE, version(2), deleteVersion(2)],
        when: [`GET ${DEKS}/s/versions/latest`],
        answer: DEK,
      },
    ],
    [
      'finds the last one, soft-deleted or not, where this is asked for',
      {
        given: [KEK, CREATE, version(2), deleteVersion(2)],
        when: [`GET ${DEKS}/s/versions/latest?deleted=true`],
        answer: { ...DEK, version: 2, deleted: true },
      },
    ],
    ['refuses what is no version', { given: [KEK], when: [`GET ${DEKS}/s/versions/0`], ...BAD_VERSION }],
    [
      'opens it where the KEK is shared by now',
      {
        given: [SHARED, GENERATE],
        when: [`GET ${DEKS}/s`],
        answer: OPENED,
      },
    ],
    [
      'leaves it closed where the KEK is no longer shared',
      {
        given: [SHARED, GENERATE, [`PUT ${KEKS}/kek1`, { shared: false }]],
        when: [`GET ${DEKS}/s`],
        answer: { ...DEK, encryptedKeyMaterial: KEY },
      },
    ],
    [
      'reports a KMS that cannot decrypt it',
      {
        given: [
          [`POST ${KEKS}`, { ...NEW_KEK, kmsType: 'unknown-kms' }],
          CREATE,
          [`PUT ${KEKS}/kek1`, { shared: true }],
        ],
        when: [`GET ${DEKS}/s`],
        ...KMS_UNKNOWN,
      },
    ],
    ['lists the versions', { given: [KEK, version(2), CREATE], when: [`GET ${DEKS}/s/versions`], answer: [1, 2] }],
    [
      'lists none of another algorithm',
      {
        given: [KEK, CREATE, SIV],
        when: [`GET ${DEKS}/s/versions?algorithm=AES256_SIV`],
        answer: [3],
      },
    ],
    [
      'lists a page of versions',
      { given: [KEK, CREATE, version(2)], when: [`GET ${DEKS}/s/versions?offset=1&limit=1`], answer: [2] },
    ],
    [
      'lists soft-deleted versions where this is asked for',
      {
        given: [KEK, CREATE, version(2), deleteVersion(2)],
        when: [`GET ${DEKS}/s/versions?deleted=true`],
        answer: [1, 2],
      },
    ],
    ['lists no versions of what is not there', { given: [KEK], when: [`GET ${DEKS}/s/versions`], answer: [] }],
    ['needs the KEK to list versions', { when: [`GET ${DEKS}/s/versions`], ...NO_KEK }],
    [
      'lists each subject once, in order',
      {
        given: [KEK, CREATE, version(2), SIV, OTHER, IN_CONTEXT],
        when: [`GET ${DEKS}`],
        answer: [':.c:s', 'a', 's'],
      },
    ],
    [
      'lists a page of subjects',
      { given: [KEK, CREATE, OTHER], when: [`GET ${DEKS}?offset=1&limit=1`], answer: ['s'] },
    ],
    ['leaves soft-deleted subjects out', { given: [KEK, CREATE, OTHER, DELETE], when: [`GET ${DEKS}`], answer: ['a'] }],
    [
      'lists them where this is asked for',
      { given: [KEK, CREATE, OTHER, DELETE], when: [`GET ${DEKS}?deleted=true`], answer: ['a', 's'] },
    ],
    ['needs the KEK to list subjects', { when: [`GET ${DEKS}`], ...NO_KEK }],
  ])('%s', (_, row) => expectRow(row))
})

describe('deleting DEKs', () => {
  const GONE: Request = [`DELETE ${DEKS}/s?permanent=true`]
  const UNDELETE: Request = [`POST ${DEKS}/s/undelete`]
  const undeleteVersion = (which: number | string): Request => [`POST ${DEKS}/s/versions/${which}/undelete`]
  const goneVersion = (which: number | string): Request => [`DELETE ${DEKS}/s/versions/${which}?permanent=true`]
  const VERSIONS = (deleted = false): Request => [`GET ${DEKS}/s/versions?deleted=${deleted}`]
  const NOT_SOFT = refusal(40471, "Key 's' was not deleted first before being permanently deleted")
  it.each<readonly [string, Row]>([
    [
      'deletes all versions softly',
      { given: [KEK, CREATE, version(2)], when: DELETE, ...DONE, after: { when: VERSIONS(), answer: [] } },
    ],
    ['may be repeated', { given: [KEK, CREATE, DELETE], when: DELETE, ...DONE }],
    [
      'leaves other algorithms',
      {
        given: [KEK, CREATE, [`POST ${DEKS}/s`, { ...MATERIAL, algorithm: 'AES128_GCM' }]],
        when: [`DELETE ${DEKS}/s?algorithm=AES128_GCM`],
        ...DONE,
        after: { when: VERSIONS(), answer: [1] },
      },
    ],
    ['needs the KEK', { when: DELETE, ...NO_KEK }],
    ['needs a version', { given: [KEK], when: DELETE, ...NO_DEK }],
    [
      'deletes for good after that',
      { given: [KEK, CREATE, DELETE], when: GONE, ...DONE, after: { when: VERSIONS(true), answer: [] } },
    ],
    ['finds nothing after that', { given: [KEK, CREATE, DELETE, GONE], when: GONE, ...NO_DEK }],
    [
      'does not delete for good at once, not even in part',
      {
        given: [KEK, CREATE, version(2), deleteVersion(1)],
        when: GONE,
        ...NOT_SOFT,
        after: { when: VERSIONS(true), answer: [1, 2] },
      },
    ],
    [
      'deletes one version softly',
      {
        given: [KEK, CREATE, version(2)],
        when: deleteVersion(1),
        ...DONE,
        after: { when: VERSIONS(), answer: [2] },
      },
    ],
    [
      'deletes the latest version',
      {
        given: [KEK, CREATE, version(2)],
        when: deleteVersion('latest'),
        ...DONE,
        after: { when: VERSIONS(), answer: [1] },
      },
    ],
    [
      'deletes one version for good',
      {
        given: [KEK, CREATE, version(2), deleteVersion(1)],
        when: goneVersion(1),
        ...DONE,
        after: { when: VERSIONS(true), answer: [2] },
      },
    ],
    ['does not delete a version for good at once', { given: [KEK, CREATE], when: goneVersion(1), ...NOT_SOFT }],
    ['needs the version', { given: [KEK, CREATE], when: deleteVersion(2), ...NO_DEK }],
    ['refuses what is no version', { given: [KEK, CREATE], when: deleteVersion('x'), ...BAD_VERSION }],
    ['knows no other algorithm', { given: [KEK, CREATE], when: [`DELETE ${DEKS}/s?algorithm=DES`], ...NO_SUCH }],
    [
      'can be undone',
      {
        given: [KEK, CREATE, version(2), DELETE],
        when: UNDELETE,
        ...DONE,
        after: { when: VERSIONS(), answer: [1, 2] },
      },
    ],
    [
      'can be undone for one version',
      {
        given: [KEK, CREATE, version(2), DELETE],
        when: undeleteVersion(2),
        ...DONE,
        after: { when: VERSIONS(), answer: [2] },
      },
    ],
    ['may be undone where nothing was deleted', { given: [KEK, CREATE], when: UNDELETE, ...DONE }],
    ['cannot be undone without a version', { given: [KEK], when: UNDELETE, ...NO_DEK }],
    ['cannot be undone without that version', { given: [KEK, CREATE], when: undeleteVersion(2), ...NO_DEK }],
    ['cannot be undone without the KEK', { when: UNDELETE, ...NO_KEK }],
    ...([UNDELETE, undeleteVersion(1)] as const).map((when, at): readonly [string, Row] => [
      `cannot be undone before the KEK, ${at === 0 ? 'for all versions' : 'for one'}`,
      { given: [KEK, CREATE, DELETE, DELETE_KEK], when, ...refusal(40472, "Key 'kek1' must be undeleted first") },
    ]),
    [
      'is recorded under the subject of an alias',
      {
        given: [KEK, CREATE, ['PUT /config/x', { aliasForDeks: 's' }]],
        when: [`DELETE ${DEKS}/x`],
        ...DONE,
        after: { when: VERSIONS(), answer: [] },
      },
    ],
  ])('%s', (_, row) => expectRow(row))
})
