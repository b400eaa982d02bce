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
      'returns the first version if no version is given',
      { given: [KEK, DEK, dekVersion(2)], when: [`GET ${DEKS}/s`], answer: CREATED_DEK },
    ],
    [
      'qualifies the subject with the context of the path',
      {
        given: [KEK, IN_CONTEXT],
        when: [`GET /contexts/.c${DEKS}/s`],
        answer: { ...CREATED_DEK, subject: ':.c:s' },
      },
    ],
    [
      'resolves the alias of the subject',
      {
        given: [KEK, DEK, ['PUT /config/x', { aliasForDeks: 's' }]],
        when: [`GET ${DEKS}/x`],
        answer: CREATED_DEK,
      },
    ],
    ['returns 40470 for an unknown KEK', { when: [`GET ${DEKS}/s`], ...NO_KEK }],
    ['returns 40470 for an unknown DEK', { given: [KEK], when: [`GET ${DEKS}/s`], ...NO_DEK }],
    [
      'returns 40470 if the DEK has another algorithm',
      { given: [KEK, SIV], when: [`GET ${DEKS}/s/versions/3`], ...NO_DEK },
    ],
    [
      'returns the DEK of the given algorithm',
      {
        given: [KEK, SIV],
        when: [`GET ${DEKS}/s/versions/3?algorithm=AES256_SIV`],
        answer: { ...CREATED_DEK, version: 3, algorithm: 'AES256_SIV' },
      },
    ],
    ['returns 404 for an unknown algorithm', { given: [KEK, DEK], when: [`GET ${DEKS}/s?algorithm=DES`], ...NO_SUCH }],
    [
      'returns the given version',
      { given: [KEK, DEK, dekVersion(2)], when: [`GET ${DEKS}/s/versions/2`], answer: { ...CREATED_DEK, version: 2 } },
    ],
    ['returns 40470 for an unknown version', { given: [KEK, DEK], when: [`GET ${DEKS}/s/versions/2`], ...NO_DEK }],
    ...['latest', '-1'].map((which): readonly [string, RegistryCase] => [
      `returns the latest version for ${which}`,
      {
        given: [KEK, dekVersion(10), dekVersion(9)],
        when: [`GET ${DEKS}/s/versions/${which}`],
        answer: { ...CREATED_DEK, version: 10 },
      },
    ]),
    [
      'returns the latest version that is not soft-deleted',
      {
        given: [KEK, DEK, dekVersion(2), deleteVersion(2)],
        when: [`GET ${DEKS}/s/versions/latest`],
        answer: CREATED_DEK,
      },
    ],
    [
      'returns the latest version including soft-deleted ones with deleted=true',
      {
        given: [KEK, DEK, dekVersion(2), deleteVersion(2)],
        when: [`GET ${DEKS}/s/versions/latest?deleted=true`],
        answer: { ...CREATED_DEK, version: 2, deleted: true },
      },
    ],
    ['returns 42202 for an invalid version', { given: [KEK], when: [`GET ${DEKS}/s/versions/0`], ...BAD_VERSION }],
    [
      'returns the decrypted key if the KEK is shared',
      {
        given: [SHARED_KEK, GENERATED_DEK],
        when: [`GET ${DEKS}/s`],
        answer: GENERATED_DEK_RESPONSE,
      },
    ],
    [
      'returns no decrypted key if the KEK is no longer shared',
      {
        given: [SHARED_KEK, GENERATED_DEK, [`PUT ${KEKS}/kek1`, { shared: false }]],
        when: [`GET ${DEKS}/s`],
        answer: { ...CREATED_DEK, encryptedKeyMaterial: ANY_KEY },
      },
    ],
    [
      'returns 50070 if the KMS cannot decrypt the key',
      {
        given: [[`POST ${KEKS}`, { ...NEW_KEK, kmsType: 'unknown-kms' }], DEK, [`PUT ${KEKS}/kek1`, { shared: true }]],
        when: [`GET ${DEKS}/s`],
        ...KMS_UNKNOWN,
      },
    ],
    [
      'lists the versions in ascending order',
      { given: [KEK, dekVersion(2), DEK], when: [`GET ${DEKS}/s/versions`], answer: [1, 2] },
    ],
    [
      'lists only the versions of the given algorithm',
      {
        given: [KEK, DEK, SIV],
        when: [`GET ${DEKS}/s/versions?algorithm=AES256_SIV`],
        answer: [3],
      },
    ],
    [
      'lists a page of versions by offset and limit',
      { given: [KEK, DEK, dekVersion(2)], when: [`GET ${DEKS}/s/versions?offset=1&limit=1`], answer: [2] },
    ],
    [
      'lists soft-deleted versions with deleted=true',
      {
        given: [KEK, DEK, dekVersion(2), deleteVersion(2)],
        when: [`GET ${DEKS}/s/versions?deleted=true`],
        answer: [1, 2],
      },
    ],
    ['lists no versions of an unknown subject', { given: [KEK], when: [`GET ${DEKS}/s/versions`], answer: [] }],
    ['returns 40470 when listing versions of an unknown KEK', { when: [`GET ${DEKS}/s/versions`], ...NO_KEK }],
    [
      'lists each subject once, in alphabetical order',
      {
        given: [KEK, DEK, dekVersion(2), SIV, OTHER, IN_CONTEXT],
        when: [`GET ${DEKS}`],
        answer: [':.c:s', 'a', 's'],
      },
    ],
    [
      'lists a page of subjects by offset and limit',
      { given: [KEK, DEK, OTHER], when: [`GET ${DEKS}?offset=1&limit=1`], answer: ['s'] },
    ],
    [
      'does not list subjects whose DEKs are soft-deleted',
      { given: [KEK, DEK, OTHER, DELETE_DEK], when: [`GET ${DEKS}`], answer: ['a'] },
    ],
    [
      'lists subjects whose DEKs are soft-deleted with deleted=true',
      { given: [KEK, DEK, OTHER, DELETE_DEK], when: [`GET ${DEKS}?deleted=true`], answer: ['a', 's'] },
    ],
    ['returns 40470 when listing subjects of an unknown KEK', { when: [`GET ${DEKS}`], ...NO_KEK }],
  ])('%s', { tags: ['slow'] }, (_, row) => expectRow(row))
})

describe('deleting DEKs', () => {
  const HARD_DELETE: Request = [`DELETE ${DEKS}/s?permanent=true`]
  const UNDELETE: Request = [`POST ${DEKS}/s/undelete`]
  const undeleteVersion = (which: number | string): Request => [`POST ${DEKS}/s/versions/${which}/undelete`]
  const hardDeleteVersion = (which: number | string): Request => [`DELETE ${DEKS}/s/versions/${which}?permanent=true`]
  const VERSIONS = (deleted = false): Request => [`GET ${DEKS}/s/versions?deleted=${deleted}`]
  const NOT_SOFT = errorResponse(40471, "Key 's' was not deleted first before being permanently deleted")
  it.each<readonly [string, RegistryCase]>([
    [
      'soft-deletes all versions',
      { given: [KEK, DEK, dekVersion(2)], when: DELETE_DEK, ...DONE, after: { when: VERSIONS(), answer: [] } },
    ],
    ['succeeds if the versions are already soft-deleted', { given: [KEK, DEK, DELETE_DEK], when: DELETE_DEK, ...DONE }],
    [
      'does not delete versions of other algorithms',
      {
        given: [KEK, DEK, [`POST ${DEKS}/s`, { ...MATERIAL, algorithm: 'AES128_GCM' }]],
        when: [`DELETE ${DEKS}/s?algorithm=AES128_GCM`],
        ...DONE,
        after: { when: VERSIONS(), answer: [1] },
      },
    ],
    ['returns 40470 for an unknown KEK', { when: DELETE_DEK, ...NO_KEK }],
    ['returns 40470 for a subject without DEK', { given: [KEK], when: DELETE_DEK, ...NO_DEK }],
    [
      'hard-deletes soft-deleted versions',
      { given: [KEK, DEK, DELETE_DEK], when: HARD_DELETE, ...DONE, after: { when: VERSIONS(true), answer: [] } },
    ],
    [
      'returns 40470 when hard-deleting a second time',
      { given: [KEK, DEK, DELETE_DEK, HARD_DELETE], when: HARD_DELETE, ...NO_DEK },
    ],
    [
      'returns 40471 and deletes nothing if one version is not soft-deleted',
      {
        given: [KEK, DEK, dekVersion(2), deleteVersion(1)],
        when: HARD_DELETE,
        ...NOT_SOFT,
        after: { when: VERSIONS(true), answer: [1, 2] },
      },
    ],
    [
      'soft-deletes one version',
      {
        given: [KEK, DEK, dekVersion(2)],
        when: deleteVersion(1),
        ...DONE,
        after: { when: VERSIONS(), answer: [2] },
      },
    ],
    [
      'soft-deletes the latest version',
      {
        given: [KEK, DEK, dekVersion(2)],
        when: deleteVersion('latest'),
        ...DONE,
        after: { when: VERSIONS(), answer: [1] },
      },
    ],
    [
      'hard-deletes one soft-deleted version',
      {
        given: [KEK, DEK, dekVersion(2), deleteVersion(1)],
        when: hardDeleteVersion(1),
        ...DONE,
        after: { when: VERSIONS(true), answer: [2] },
      },
    ],
    [
      'returns 40471 when hard-deleting a version that is not soft-deleted',
      { given: [KEK, DEK], when: hardDeleteVersion(1), ...NOT_SOFT },
    ],
    ['returns 40470 for an unknown version', { given: [KEK, DEK], when: deleteVersion(2), ...NO_DEK }],
    ['returns 42202 for an invalid version', { given: [KEK, DEK], when: deleteVersion('x'), ...BAD_VERSION }],
    [
      'returns 404 for an unknown algorithm',
      { given: [KEK, DEK], when: [`DELETE ${DEKS}/s?algorithm=DES`], ...NO_SUCH },
    ],
    [
      'can be undone by undelete for all versions',
      {
        given: [KEK, DEK, dekVersion(2), DELETE_DEK],
        when: UNDELETE,
        ...DONE,
        after: { when: VERSIONS(), answer: [1, 2] },
      },
    ],
    [
      'can be undone by undelete for one version',
      {
        given: [KEK, DEK, dekVersion(2), DELETE_DEK],
        when: undeleteVersion(2),
        ...DONE,
        after: { when: VERSIONS(), answer: [2] },
      },
    ],
    ['can be undone for a DEK that is not deleted, without effect', { given: [KEK, DEK], when: UNDELETE, ...DONE }],
    ['returns 40470 on undelete of an unknown DEK', { given: [KEK], when: UNDELETE, ...NO_DEK }],
    ['returns 40470 on undelete of an unknown version', { given: [KEK, DEK], when: undeleteVersion(2), ...NO_DEK }],
    ['returns 40470 on undelete with an unknown KEK', { when: UNDELETE, ...NO_KEK }],
    ...([UNDELETE, undeleteVersion(1)] as const).map((when, at): readonly [string, RegistryCase] => [
      `returns 40472 on undelete of ${at === 0 ? 'all versions' : 'one version'} if the KEK is soft-deleted`,
      {
        given: [KEK, DEK, DELETE_DEK, DELETE_KEK],
        when,
        ...errorResponse(40472, "Key 'kek1' must be undeleted first"),
      },
    ]),
    [
      'resolves the alias of the subject',
      {
        given: [KEK, DEK, ['PUT /config/x', { aliasForDeks: 's' }]],
        when: [`DELETE ${DEKS}/x`],
        ...DONE,
        after: { when: VERSIONS(), answer: [] },
      },
    ],
  ])('%s', (_, row) => expectRow(row))
})
