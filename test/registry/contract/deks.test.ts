import { describe, expect, it } from 'vitest'
import {
  ANY_KEY,
  BAD_VERSION,
  CREATED_DEK,
  DEK,
  DEKS,
  DELETE_DEK,
  DELETE_KEK,
  dekVersion,
  GENERATED_DEK,
  GENERATED_DEK_RESPONSE,
  KEK,
  KEKS,
  MATERIAL,
  NEW_KEK,
  NO_DEK,
  NO_KEK,
  SHARED_KEK,
} from '../../support/dek-requests.ts'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

const deleteVersion = (which: number | string): Request => [`DELETE ${DEKS}/s/versions/${which}`]
const KMS_UNKNOWN = errorResponse(
  50070,
  expect.stringMatching(/^Could not generate raw dek for s: no driver for KMS type/),
)
const NO_SUCH = errorResponse(404, 'HTTP 404 Not Found', 404)
const DONE = { status: 204, answer: undefined }

describe('reading DEKs', () => {
  const SIV: Request = [`POST ${DEKS}/s`, { ...MATERIAL, algorithm: 'AES256_SIV', version: 3 }]
  const OTHER: Request = [`POST ${DEKS}/a`, MATERIAL]
  const IN_CONTEXT: Request = [`POST ${DEKS}/:.c:s`, MATERIAL]
  it.each<readonly [string, RegistryCase]>([
    [
      'finds the first version, not the latest',
      { given: [KEK, DEK, dekVersion(2)], when: [`GET ${DEKS}/s`], answer: CREATED_DEK },
    ],
    [
      'finds it in the context of the path',
      {
        given: [KEK, IN_CONTEXT],
        when: [`GET /contexts/.c${DEKS}/s`],
        answer: { ...CREATED_DEK, subject: ':.c:s' },
      },
    ],
    [
      'finds it by an alias',
      {
        given: [KEK, DEK, ['PUT /config/x', { aliasForDeks: 's' }]],
        when: [`GET ${DEKS}/x`],
        answer: CREATED_DEK,
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
        answer: { ...CREATED_DEK, version: 3, algorithm: 'AES256_SIV' },
      },
    ],
    ['knows no other algorithm', { given: [KEK, DEK], when: [`GET ${DEKS}/s?algorithm=DES`], ...NO_SUCH }],
    [
      'finds a version',
      { given: [KEK, DEK, dekVersion(2)], when: [`GET ${DEKS}/s/versions/2`], answer: { ...CREATED_DEK, version: 2 } },
    ],
    ['finds no other version', { given: [KEK, DEK], when: [`GET ${DEKS}/s/versions/2`], ...NO_DEK }],
    ...['latest', '-1'].map((which): readonly [string, RegistryCase] => [
      `finds the last version as ${which}`,
      {
        given: [KEK, dekVersion(10), dekVersion(9)],
        when: [`GET ${DEKS}/s/versions/${which}`],
        answer: { ...CREATED_DEK, version: 10 },
      },
    ]),
    [
      'finds the last one that is not soft-deleted',
      {
        given: [KEK, DEK, dekVersion(2), deleteVersion(2)],
        when: [`GET ${DEKS}/s/versions/latest`],
        answer: CREATED_DEK,
      },
    ],
    [
      'finds the last one, soft-deleted or not, where this is asked for',
      {
        given: [KEK, DEK, dekVersion(2), deleteVersion(2)],
        when: [`GET ${DEKS}/s/versions/latest?deleted=true`],
        answer: { ...CREATED_DEK, version: 2, deleted: true },
      },
    ],
    ['refuses what is no version', { given: [KEK], when: [`GET ${DEKS}/s/versions/0`], ...BAD_VERSION }],
    [
      'opens it where the KEK is shared by now',
      {
        given: [SHARED_KEK, GENERATED_DEK],
        when: [`GET ${DEKS}/s`],
        answer: GENERATED_DEK_RESPONSE,
      },
    ],
    [
      'leaves it closed where the KEK is no longer shared',
      {
        given: [SHARED_KEK, GENERATED_DEK, [`PUT ${KEKS}/kek1`, { shared: false }]],
        when: [`GET ${DEKS}/s`],
        answer: { ...CREATED_DEK, encryptedKeyMaterial: ANY_KEY },
      },
    ],
    [
      'reports a KMS that cannot decrypt it',
      {
        given: [[`POST ${KEKS}`, { ...NEW_KEK, kmsType: 'unknown-kms' }], DEK, [`PUT ${KEKS}/kek1`, { shared: true }]],
        when: [`GET ${DEKS}/s`],
        ...KMS_UNKNOWN,
      },
    ],
    ['lists the versions', { given: [KEK, dekVersion(2), DEK], when: [`GET ${DEKS}/s/versions`], answer: [1, 2] }],
    [
      'lists none of another algorithm',
      {
        given: [KEK, DEK, SIV],
        when: [`GET ${DEKS}/s/versions?algorithm=AES256_SIV`],
        answer: [3],
      },
    ],
    [
      'lists a page of versions',
      { given: [KEK, DEK, dekVersion(2)], when: [`GET ${DEKS}/s/versions?offset=1&limit=1`], answer: [2] },
    ],
    [
      'lists soft-deleted versions where this is asked for',
      {
        given: [KEK, DEK, dekVersion(2), deleteVersion(2)],
        when: [`GET ${DEKS}/s/versions?deleted=true`],
        answer: [1, 2],
      },
    ],
    ['lists no versions of what is not there', { given: [KEK], when: [`GET ${DEKS}/s/versions`], answer: [] }],
    ['needs the KEK to list versions', { when: [`GET ${DEKS}/s/versions`], ...NO_KEK }],
    [
      'lists each subject once, in order',
      {
        given: [KEK, DEK, dekVersion(2), SIV, OTHER, IN_CONTEXT],
        when: [`GET ${DEKS}`],
        answer: [':.c:s', 'a', 's'],
      },
    ],
    ['lists a page of subjects', { given: [KEK, DEK, OTHER], when: [`GET ${DEKS}?offset=1&limit=1`], answer: ['s'] }],
    [
      'leaves soft-deleted subjects out',
      { given: [KEK, DEK, OTHER, DELETE_DEK], when: [`GET ${DEKS}`], answer: ['a'] },
    ],
    [
      'lists them where this is asked for',
      { given: [KEK, DEK, OTHER, DELETE_DEK], when: [`GET ${DEKS}?deleted=true`], answer: ['a', 's'] },
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
  const NOT_SOFT = errorResponse(40471, "Key 's' was not deleted first before being permanently deleted")
  it.each<readonly [string, RegistryCase]>([
    [
      'deletes all versions softly',
      { given: [KEK, DEK, dekVersion(2)], when: DELETE_DEK, ...DONE, after: { when: VERSIONS(), answer: [] } },
    ],
    ['may be repeated', { given: [KEK, DEK, DELETE_DEK], when: DELETE_DEK, ...DONE }],
    [
      'leaves other algorithms',
      {
        given: [KEK, DEK, [`POST ${DEKS}/s`, { ...MATERIAL, algorithm: 'AES128_GCM' }]],
        when: [`DELETE ${DEKS}/s?algorithm=AES128_GCM`],
        ...DONE,
        after: { when: VERSIONS(), answer: [1] },
      },
    ],
    ['needs the KEK', { when: DELETE_DEK, ...NO_KEK }],
    ['needs a version', { given: [KEK], when: DELETE_DEK, ...NO_DEK }],
    [
      'deletes for good after that',
      { given: [KEK, DEK, DELETE_DEK], when: GONE, ...DONE, after: { when: VERSIONS(true), answer: [] } },
    ],
    ['finds nothing after that', { given: [KEK, DEK, DELETE_DEK, GONE], when: GONE, ...NO_DEK }],
    [
      'does not delete for good at once, not even in part',
      {
        given: [KEK, DEK, dekVersion(2), deleteVersion(1)],
        when: GONE,
        ...NOT_SOFT,
        after: { when: VERSIONS(true), answer: [1, 2] },
      },
    ],
    [
      'deletes one version softly',
      {
        given: [KEK, DEK, dekVersion(2)],
        when: deleteVersion(1),
        ...DONE,
        after: { when: VERSIONS(), answer: [2] },
      },
    ],
    [
      'deletes the latest version',
      {
        given: [KEK, DEK, dekVersion(2)],
        when: deleteVersion('latest'),
        ...DONE,
        after: { when: VERSIONS(), answer: [1] },
      },
    ],
    [
      'deletes one version for good',
      {
        given: [KEK, DEK, dekVersion(2), deleteVersion(1)],
        when: goneVersion(1),
        ...DONE,
        after: { when: VERSIONS(true), answer: [2] },
      },
    ],
    ['does not delete a version for good at once', { given: [KEK, DEK], when: goneVersion(1), ...NOT_SOFT }],
    ['needs the version', { given: [KEK, DEK], when: deleteVersion(2), ...NO_DEK }],
    ['refuses what is no version', { given: [KEK, DEK], when: deleteVersion('x'), ...BAD_VERSION }],
    ['knows no other algorithm', { given: [KEK, DEK], when: [`DELETE ${DEKS}/s?algorithm=DES`], ...NO_SUCH }],
    [
      'can be undone',
      {
        given: [KEK, DEK, dekVersion(2), DELETE_DEK],
        when: UNDELETE,
        ...DONE,
        after: { when: VERSIONS(), answer: [1, 2] },
      },
    ],
    [
      'can be undone for one version',
      {
        given: [KEK, DEK, dekVersion(2), DELETE_DEK],
        when: undeleteVersion(2),
        ...DONE,
        after: { when: VERSIONS(), answer: [2] },
      },
    ],
    ['may be undone where nothing was deleted', { given: [KEK, DEK], when: UNDELETE, ...DONE }],
    ['cannot be undone without a version', { given: [KEK], when: UNDELETE, ...NO_DEK }],
    ['cannot be undone without that version', { given: [KEK, DEK], when: undeleteVersion(2), ...NO_DEK }],
    ['cannot be undone without the KEK', { when: UNDELETE, ...NO_KEK }],
    ...([UNDELETE, undeleteVersion(1)] as const).map((when, at): readonly [string, RegistryCase] => [
      `cannot be undone before the KEK, ${at === 0 ? 'for all versions' : 'for one'}`,
      {
        given: [KEK, DEK, DELETE_DEK, DELETE_KEK],
        when,
        ...errorResponse(40472, "Key 'kek1' must be undeleted first"),
      },
    ]),
    [
      'is recorded under the subject of an alias',
      {
        given: [KEK, DEK, ['PUT /config/x', { aliasForDeks: 's' }]],
        when: [`DELETE ${DEKS}/x`],
        ...DONE,
        after: { when: VERSIONS(), answer: [] },
      },
    ],
  ])('%s', (_, row) => expectRow(row))
})
