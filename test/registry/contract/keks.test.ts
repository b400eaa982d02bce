import { describe, expect, it } from 'vitest'
import {
  DEK,
  DELETE_DEK,
  DELETE_KEK,
  invalidKey,
  KEK,
  KEKS,
  NEW_KEK,
  NO_KEK,
  SHARED_KEK,
} from '../../support/dek-requests.ts'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

const THE_KEK = { ...NEW_KEK, kmsProps: {}, shared: false, ts: expect.any(Number) }

const EXISTS = errorResponse(40971, "Key 'kek1' already exists; use a different value")
const REFERENCES = errorResponse(42272, "One or more references exist to the key 'kek1'")
const DONE = { status: 204, answer: undefined }

describe('creating a KEK', () => {
  it.each<readonly [string, RegistryCase]>([
    ['returns the KEK', { when: KEK, answer: THE_KEK }],
    [
      'stores the properties, sorted by key, and the description',
      {
        when: [`POST ${KEKS}`, { ...NEW_KEK, kmsProps: { b: '2', a: '1' }, doc: 'why', shared: true, unknown: 1 }],
        answer: { ...THE_KEK, kmsProps: { a: '1', b: '2' }, doc: 'why', shared: true },
      },
    ],
    [
      'converts scalars of other types as Jackson does',
      {
        when: [`POST ${KEKS}`, { ...NEW_KEK, kmsKeyId: 5, doc: true, shared: 'true', deleted: null }],
        answer: { ...THE_KEK, kmsKeyId: '5', doc: 'true', shared: true },
      },
    ],
    [
      'stores AWS as the KMS type aws-kms',
      {
        when: [`POST ${KEKS}`, { ...NEW_KEK, kmsType: 'AWS' }],
        answer: { ...THE_KEK, kmsType: 'aws-kms' },
      },
    ],
    [
      'can create a soft-deleted KEK',
      {
        when: [`POST ${KEKS}`, { ...NEW_KEK, deleted: true }],
        answer: { ...THE_KEK, deleted: true },
      },
    ],
    ['returns 40971 for an existing name', { given: [KEK], when: KEK, ...EXISTS }],
    ['undeletes a soft-deleted KEK that is equal', { given: [KEK, DELETE_KEK], when: KEK, answer: THE_KEK }],
    [
      'returns 40971 if a soft-deleted KEK of this name differs',
      { given: [KEK, DELETE_KEK], when: SHARED_KEK, ...EXISTS },
    ],
    ['uses the same KEKs in every context', { given: [KEK], when: [`POST /contexts/.c${KEKS}`, NEW_KEK], ...EXISTS }],
    [
      'returns 422 without a body',
      { when: [`POST ${KEKS}`], status: 422, answer: { error_code: 422, message: expect.any(String) } },
    ],
    [
      'returns 400 for a body that is not an object',
      {
        when: [`POST ${KEKS}`, []],
        status: 400,
        answer: { error_code: 400, message: expect.any(String) },
      },
    ],
    [
      'returns 42271 without a name',
      { when: [`POST ${KEKS}`, { ...NEW_KEK, name: undefined }], ...invalidKey('name') },
    ],
    [
      'returns 42271 without a KMS type',
      { when: [`POST ${KEKS}`, { ...NEW_KEK, kmsType: undefined }], ...invalidKey('kmsType') },
    ],
    [
      'returns 42271 without a key ID',
      { when: [`POST ${KEKS}`, { ...NEW_KEK, kmsKeyId: '' }], ...invalidKey('kmsKeyId') },
    ],
    [
      'accepts a name of maximum length',
      {
        when: [`POST ${KEKS}`, { ...NEW_KEK, name: `_${'ä1-'.repeat(85)}` }],
        answer: { ...THE_KEK, name: `_${'ä1-'.repeat(85)}` },
      },
    ],
    ...['1a', '-a', 'a.b', 'a b', 'a/b', '𝒳', 'a𝒳', 'a'.repeat(257)].map((name): readonly [string, RegistryCase] => [
      `returns 42271 for the name ${name.slice(0, 9)}`,
      { when: [`POST ${KEKS}`, { ...NEW_KEK, name }], ...invalidKey('name') },
    ]),
    ...(
      [
        ['aws-kms', 'arn:aws:kms:us-west-2:1:key/2', 'key/2'],
        ['azure-kms', 'https://vault/keys/1', 'http://vault/keys/1'],
        ['gcp-kms', 'projects/p/1', 'p/1'],
        ['hcvault', 'http://vault/transit/keys/1', 'vault/transit/keys/1'],
      ] as const
    ).flatMap(([kmsType, good, bad]): (readonly [string, RegistryCase])[] => [
      [
        `accepts a valid key ID of ${kmsType}`,
        {
          when: [`POST ${KEKS}`, { ...NEW_KEK, kmsType, kmsKeyId: good }],
          answer: { ...THE_KEK, kmsType, kmsKeyId: good },
        },
      ],
      [
        `returns 42271 for an invalid key ID of ${kmsType}`,
        { when: [`POST ${KEKS}`, { ...NEW_KEK, kmsType, kmsKeyId: bad }], ...invalidKey('kmsKeyId') },
      ],
    ]),
    [
      'returns 40972 above dek.registry.max.keys, including soft-deleted KEKs',
      {
        settings: { 'dek.registry.max.keys': '1' },
        given: [KEK, DELETE_KEK, [`POST ${KEKS}`, { ...NEW_KEK, name: 'kek2' }]],
        when: [`POST ${KEKS}`, { ...NEW_KEK, name: 'kek3' }],
        ...errorResponse(40972, 'A maximum of 1 keys already exist'),
      },
    ],
  ])('%s', { tags: ['slow'] }, (_, row) => expectRow(row))
})

describe('testing a KEK', () => {
  const unknown = (name: string) => ({ ...NEW_KEK, kmsType: 'unknown-kms', shared: true, name })
  const failure = expect.stringMatching(
    /^Error while creating key: Could not generate encrypted dek for __TEST: no driver for KMS type 'unknown-kms'/,
  )
  it.each<readonly [string, RegistryCase]>([
    [
      'returns the stored record',
      {
        given: [SHARED_KEK],
        when: [`POST ${KEKS}/kek1/test`],
        answer: { ...THE_KEK, shared: true, type: 'KEK', deleted: false, offset: expect.any(Number) },
      },
    ],
    [
      'returns 42271 if the KEK is not shared',
      { given: [KEK], when: [`POST ${KEKS}/kek1/test`], ...invalidKey('shared') },
    ],
    ['returns 40470 for an unknown KEK', { when: [`POST ${KEKS}/kek1/test`], ...NO_KEK }],
    [
      'returns 40470 for a soft-deleted KEK',
      { given: [SHARED_KEK, DELETE_KEK], when: [`POST ${KEKS}/kek1/test`], ...NO_KEK },
    ],
    [
      'returns 50070 for an unknown KMS type',
      {
        given: [[`POST ${KEKS}`, unknown('kek1')]],
        when: [`POST ${KEKS}/kek1/test`],
        ...errorResponse(
          50070,
          expect.stringContaining("Could not generate encrypted dek for __TEST: no driver for KMS type 'unknown-kms'"),
        ),
      },
    ],
    [
      'fails the creation of a shared KEK with testSharing=true',
      {
        when: [`POST ${KEKS}?testSharing=true`, unknown('kek1')],
        status: 500,
        answer: { error_code: 500, message: failure },
      },
    ],
    [
      'does not happen on creation of a KEK that is not shared',
      {
        when: [`POST ${KEKS}?testSharing=true`, { ...unknown('kek1'), shared: false }],
        answer: { ...THE_KEK, kmsType: 'unknown-kms' },
      },
    ],
    [
      'fails an update to shared with testSharing=true',
      {
        given: [[`POST ${KEKS}`, { ...unknown('kek1'), shared: false }]],
        when: [`PUT ${KEKS}/kek1?testSharing=true`, { shared: true }],
        status: 500,
        answer: { error_code: 500, message: expect.stringMatching(/^Error while updating key: Could not generate/) },
      },
    ],
  ])('%s', (_, row) => expectRow(row))
})

describe('reading KEKs', () => {
  const OTHER: Request = [`POST ${KEKS}`, { ...NEW_KEK, name: 'a' }]
  const DEK_OF_A: Request = [`POST ${KEKS}/a/deks/foo`, { encryptedKeyMaterial: 'AQID' }]
  it.each<readonly [string, RegistryCase]>([
    ['returns a KEK by name', { given: [KEK], when: [`GET ${KEKS}/kek1`], answer: THE_KEK }],
    ['returns 40470 for an unknown KEK', { when: [`GET ${KEKS}/kek1`], ...NO_KEK }],
    ['returns 42271 for an invalid name', { when: [`GET ${KEKS}/1a`], ...invalidKey('name') }],
    ['returns 40470 for a soft-deleted KEK', { given: [KEK, DELETE_KEK], when: [`GET ${KEKS}/kek1`], ...NO_KEK }],
    [
      'returns a soft-deleted KEK with deleted=true',
      {
        given: [KEK, DELETE_KEK],
        when: [`GET ${KEKS}/kek1?deleted=true`],
        answer: { ...THE_KEK, deleted: true },
      },
    ],
    ['lists no names if there are no KEKs', { when: [`GET ${KEKS}`], answer: [] }],
    ['lists names in alphabetical order', { given: [KEK, OTHER], when: [`GET ${KEKS}`], answer: ['a', 'kek1'] }],
    ['does not list soft-deleted KEKs', { given: [KEK, OTHER, DELETE_KEK], when: [`GET ${KEKS}`], answer: ['a'] }],
    [
      'lists soft-deleted KEKs with deleted=true',
      {
        given: [KEK, OTHER, DELETE_KEK],
        when: [`GET ${KEKS}?deleted=true`],
        answer: ['a', 'kek1'],
      },
    ],
    [
      'lists a page by offset and limit',
      { given: [KEK, OTHER], when: [`GET ${KEKS}?offset=1&limit=1`], answer: ['kek1'] },
    ],
    ['treats limit=0 as no limit', { given: [KEK, OTHER], when: [`GET ${KEKS}?limit=0`], answer: ['a', 'kek1'] }],
    [
      'lists the KEKs that have a DEK for a subject with subjectPrefix',
      {
        given: [KEK, OTHER, DEK, DEK_OF_A],
        when: [`GET ${KEKS}?subjectPrefix=fo`],
        answer: ['a'],
      },
    ],
    [
      'accepts several values of subjectPrefix',
      {
        given: [KEK, OTHER, DEK, DEK_OF_A],
        when: [`GET ${KEKS}?subjectPrefix=fo&subjectPrefix=s`],
        answer: ['a', 'kek1'],
      },
    ],
  ])('%s', (_, row) => expectRow(row))
})

describe('updating a KEK', () => {
  const FULL: Request = [`POST ${KEKS}`, { ...NEW_KEK, kmsProps: { a: '1' }, doc: 'why' }]
  const PUT = `PUT ${KEKS}/kek1`
  it.each<readonly [string, RegistryCase]>([
    [
      'changes only the given members',
      {
        given: [FULL],
        when: [PUT, { shared: true }],
        answer: { ...THE_KEK, kmsProps: { a: '1' }, doc: 'why', shared: true },
      },
    ],
    [
      'replaces all properties',
      {
        given: [FULL],
        when: [PUT, { kmsProps: { b: '2' } }],
        answer: { ...THE_KEK, kmsProps: { b: '2' }, doc: 'why' },
      },
    ],
    ['removes members that are null', { given: [FULL], when: [PUT, { kmsProps: null, doc: null }], answer: THE_KEK }],
    ['accepts an update without changes', { given: [KEK], when: [PUT, {}], answer: THE_KEK }],
    ['ignores KMS type and key ID', { given: [KEK], when: [PUT, { kmsType: 'x', kmsKeyId: 'x' }], answer: THE_KEK }],
    ['returns 40470 for a soft-deleted KEK', { given: [KEK, DELETE_KEK], when: [PUT, { doc: 'x' }], ...NO_KEK }],
    [
      'returns 422 without a body',
      { given: [KEK], when: [PUT], status: 422, answer: { error_code: 422, message: expect.any(String) } },
    ],
  ])('%s', (_, row) => expectRow(row))
})

describe('deleting a KEK', () => {
  const HARD_DELETE: Request = [`DELETE ${KEKS}/kek1?permanent=true`]
  const UNDELETE: Request = [`POST ${KEKS}/kek1/undelete`]
  it.each<readonly [string, RegistryCase]>([
    ['soft-deletes it', { given: [KEK], when: DELETE_KEK, ...DONE }],
    ['succeeds if it is already soft-deleted', { given: [KEK, DELETE_KEK], when: DELETE_KEK, ...DONE }],
    ['returns 40470 for an unknown KEK', { when: DELETE_KEK, ...NO_KEK }],
    ['hard-deletes a soft-deleted KEK', { given: [KEK, DELETE_KEK], when: HARD_DELETE, ...DONE }],
    [
      'returns 40470 for a hard-deleted KEK with deleted=true',
      { given: [KEK, DELETE_KEK, HARD_DELETE], when: [`GET ${KEKS}/kek1?deleted=true`], ...NO_KEK },
    ],
    [
      'returns 40471 when hard-deleting a KEK that is not soft-deleted',
      {
        given: [KEK],
        when: HARD_DELETE,
        ...errorResponse(40471, "Key 'kek1' was not deleted first before being permanently deleted"),
      },
    ],
    ['returns 42272 if the KEK has a DEK', { given: [KEK, DEK], when: DELETE_KEK, ...REFERENCES }],
    ['soft-deletes a KEK whose DEKs are soft-deleted', { given: [KEK, DEK, DELETE_DEK], when: DELETE_KEK, ...DONE }],
    [
      'returns 42272 when hard-deleting a KEK with soft-deleted DEKs',
      {
        given: [KEK, DEK, DELETE_DEK, DELETE_KEK],
        when: HARD_DELETE,
        ...REFERENCES,
      },
    ],
    ['can be undone by undelete', { given: [KEK, DELETE_KEK], when: UNDELETE, ...DONE }],
    [
      'makes the KEK readable again after undelete',
      {
        given: [KEK, DELETE_KEK, UNDELETE],
        when: [`GET ${KEKS}/kek1`],
        answer: THE_KEK,
      },
    ],
    ['can be undone for a KEK that is not deleted, without effect', { given: [KEK], when: UNDELETE, ...DONE }],
    ['returns 40470 on undelete of an unknown KEK', { when: UNDELETE, ...NO_KEK }],
  ])('%s', (_, row) => expectRow(row))
})

describe('registering a schema with a rule that names only a KMS key', () => {
  const rule = (params: object) => ({
    domainRules: [{ name: 'encrypt', kind: 'TRANSFORM', mode: 'WRITEREAD', type: 'ENCRYPT', tags: ['PII'], params }],
  })
  const sent = rule({ 'encrypt.kms.key.id': 'arn:aws:kms:1' })
  const REGISTER: Request = ['POST /subjects/s/versions', { schema: '"int"', ruleSet: sent }]
  const completed = rule({
    'encrypt.kms.key.id': 'arn:aws:kms:1',
    'encrypt.kek.name': 'aws-kms-1',
    'encrypt.kms.type': 'aws-kms',
  })
  it.each<readonly [string, RegistryCase]>([
    [
      'adds the KEK name and KMS type to the rule',
      { when: REGISTER, answer: expect.objectContaining({ id: 1, ruleSet: completed }) },
    ],
    [
      'returns the same version when it is repeated',
      {
        given: [REGISTER],
        when: REGISTER,
        answer: expect.objectContaining({ id: 1, version: 1 }),
      },
    ],
    [
      'completes a rule in a tags update',
      {
        given: [['POST /subjects/s/versions', { schema: '"int"' }]],
        when: ['POST /subjects/s/versions/1/tags', { ruleSet: sent }],
        answer: expect.objectContaining({ version: 2, ruleSet: completed }),
      },
    ],
    [
      'does not change the rule if the DEK registry is disabled',
      {
        settings: { 'weir.dek.registry.enable': 'false' },
        when: REGISTER,
        answer: expect.objectContaining({ ruleSet: sent }),
      },
    ],
  ])('%s', (_, row) => expectRow(row))
})
