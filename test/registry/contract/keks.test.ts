import { describe, expect, it } from 'vitest'
import { type Request, type Row, refusal, rowPlayer } from '../../support/registry-rows.ts'

const expectRow = rowPlayer()

const KEKS = '/dek-registry/v1/keks'
const NEW = { name: 'kek1', kmsType: 'test-kms', kmsKeyId: 'myid' }
const KEK = { ...NEW, kmsProps: {}, shared: false, ts: expect.any(Number) }
const CREATE: Request = [`POST ${KEKS}`, NEW]
const SHARED: Request = [`POST ${KEKS}`, { ...NEW, shared: true }]
const DELETE: Request = [`DELETE ${KEKS}/kek1`]
const DEK: Request = [`POST ${KEKS}/kek1/deks/s`, { encryptedKeyMaterial: 'AQID' }]

const NOT_FOUND = refusal(40470, "Key 'kek1' not found")
const EXISTS = refusal(40971, "Key 'kek1' already exists; use a different value")
const REFERENCES = refusal(42272, "One or more references exist to the key 'kek1'")
const invalid = (field: string) => refusal(42271, `Invalid or missing value for field '${field}' of key`)
const DONE = { status: 204, answer: undefined }

describe('creating a KEK', () => {
  it.each<readonly [string, Row]>([
    ['responds with it', { when: CREATE, answer: KEK }],
    [
      'keeps properties, sorted, and the description',
      {
        when: [`POST ${KEKS}`, { ...NEW, kmsProps: { b: '2', a: '1' }, doc: 'why', shared: true, unknown: 1 }],
        answer: { ...KEK, kmsProps: { a: '1', b: '2' }, doc: 'why', shared: true },
      },
    ],
    [
      'takes scalars of other types as Jackson does',
      {
        when: [`POST ${KEKS}`, { ...NEW, kmsKeyId: 5, doc: true, shared: 'true', deleted: null }],
        answer: { ...KEK, kmsKeyId: '5', doc: 'true', shared: true },
      },
    ],
    [
      'stores the types of cloud providers in one spelling',
      {
        when: [`POST ${KEKS}`, { ...NEW, kmsType: 'AWS' }],
        answer: { ...KEK, kmsType: 'aws-kms' },
      },
    ],
    [
      'may create it as deleted',
      {
        when: [`POST ${KEKS}`, { ...NEW, deleted: true }],
        answer: { ...KEK, deleted: true },
      },
    ],
    ['refuses one that exists', { given: [CREATE], when: CREATE, ...EXISTS }],
    ['undeletes the same KEK', { given: [CREATE, DELETE], when: CREATE, answer: KEK }],
    ['does not undelete another KEK of this name', { given: [CREATE, DELETE], when: SHARED, ...EXISTS }],
    ['has the same KEKs in every context', { given: [CREATE], when: [`POST /contexts/.c${KEKS}`, NEW], ...EXISTS }],
    ['needs a body', { when: [`POST ${KEKS}`], status: 422, answer: { error_code: 422, message: expect.any(String) } }],
    [
      'refuses a body that is no object',
      {
        when: [`POST ${KEKS}`, []],
        status: 400,
        answer: { error_code: 400, message: expect.any(String) },
      },
    ],
    ['needs a name', { when: [`POST ${KEKS}`, { ...NEW, name: undefined }], ...invalid('name') }],
    ['needs a KMS type', { when: [`POST ${KEKS}`, { ...NEW, kmsType: undefined }], ...invalid('kmsType') }],
    ['needs a key id', { when: [`POST ${KEKS}`, { ...NEW, kmsKeyId: '' }], ...invalid('kmsKeyId') }],
    [
      'takes the longest name',
      {
        when: [`POST ${KEKS}`, { ...NEW, name: `_${'ä1-'.repeat(85)}` }],
        answer: { ...KEK, name: `_${'ä1-'.repeat(85)}` },
      },
    ],
    ...['1a', '-a', 'a.b', 'a b', 'a/b', '𝒳', 'a𝒳', 'a'.repeat(257)].map((name): readonly [string, Row] => [
      `refuses the name ${name.slice(0, 9)}`,
      { when: [`POST ${KEKS}`, { ...NEW, name }], ...invalid('name') },
    ]),
    ...(
      [
        ['aws-kms', 'arn:aws:kms:us-west-2:1:key/2', 'key/2'],
        ['azure-kms', 'https://vault/keys/1', 'http://vault/keys/1'],
        ['gcp-kms', 'projects/p/1', 'p/1'],
        ['hcvault', 'http://vault/transit/keys/1', 'vault/transit/keys/1'],
      ] as const
    ).flatMap(([kmsType, good, bad]): (readonly [string, Row])[] => [
      [
        `takes the key id of ${kmsType}`,
        { when: [`POST ${KEKS}`, { ...NEW, kmsType, kmsKeyId: good }], answer: { ...KEK, kmsType, kmsKeyId: good } },
      ],
      [
        `refuses another key id of ${kmsType}`,
        { when: [`POST ${KEKS}`, { ...NEW, kmsType, kmsKeyId: bad }], ...invalid('kmsKeyId') },
      ],
    ]),
    [
      'refuses more than the configured number, soft-deleted ones included',
      {
        settings: { 'dek.registry.max.keys': '1' },
        given: [CREATE, DELETE, [`POST ${KEKS}`, { ...NEW, name: 'kek2' }]],
        when: [`POST ${KEKS}`, { ...NEW, name: 'kek3' }],
        ...refusal(40972, 'A maximum of 1 keys already exist'),
      },
    ],
  ])('%s', (_, row) => expectRow(row))
})

describe('testing a KEK', () => {
  const unknown = (name: string) => ({ ...NEW, kmsType: 'unknown-kms', shared: true, name })
  const failure = expect.stringMatching(
    /^Error while creating key: Could not generate encrypted dek for __TEST: no driver for KMS type 'unknown-kms'/,
  )
  it.each<readonly [string, Row]>([
    [
      'responds with its record',
      {
        given: [SHARED],
        when: [`POST ${KEKS}/kek1/test`],
        answer: { ...KEK, shared: true, type: 'KEK', deleted: false, offset: expect.any(Number) },
      },
    ],
    ['needs a shared one', { given: [CREATE], when: [`POST ${KEKS}/kek1/test`], ...invalid('shared') }],
    ['does not find one that is not there', { when: [`POST ${KEKS}/kek1/test`], ...NOT_FOUND }],
    ['does not find a soft-deleted one', { given: [SHARED, DELETE], when: [`POST ${KEKS}/kek1/test`], ...NOT_FOUND }],
    [
      'reports a KMS that is unknown',
      {
        given: [[`POST ${KEKS}`, unknown('kek1')]],
        when: [`POST ${KEKS}/kek1/test`],
        ...refusal(
          50070,
          expect.stringContaining("Could not generate encrypted dek for __TEST: no driver for KMS type 'unknown-kms'"),
        ),
      },
    ],
    [
      'is part of creating a shared one where this is asked for',
      {
        when: [`POST ${KEKS}?testSharing=true`, unknown('kek1')],
        status: 500,
        answer: { error_code: 500, message: failure },
      },
    ],
    [
      'is not part of creating one that is not shared',
      {
        when: [`POST ${KEKS}?testSharing=true`, { ...unknown('kek1'), shared: false }],
        answer: { ...KEK, kmsType: 'unknown-kms' },
      },
    ],
    [
      'is part of sharing one where this is asked for',
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
  const OTHER: Request = [`POST ${KEKS}`, { ...NEW, name: 'a' }]
  const DEK_OF_A: Request = [`POST ${KEKS}/a/deks/foo`, { encryptedKeyMaterial: 'AQID' }]
  it.each<readonly [string, Row]>([
    ['finds one', { given: [CREATE], when: [`GET ${KEKS}/kek1`], answer: KEK }],
    ['finds none', { when: [`GET ${KEKS}/kek1`], ...NOT_FOUND }],
    ['refuses what is no name', { when: [`GET ${KEKS}/1a`], ...invalid('name') }],
    ['does not find a soft-deleted one', { given: [CREATE, DELETE], when: [`GET ${KEKS}/kek1`], ...NOT_FOUND }],
    [
      'finds a soft-deleted one where this is asked for',
      {
        given: [CREATE, DELETE],
        when: [`GET ${KEKS}/kek1?deleted=true`],
        answer: { ...KEK, deleted: true },
      },
    ],
    ['lists none', { when: [`GET ${KEKS}`], answer: [] }],
    ['lists names in order', { given: [CREATE, OTHER], when: [`GET ${KEKS}`], answer: ['a', 'kek1'] }],
    ['leaves soft-deleted ones out', { given: [CREATE, OTHER, DELETE], when: [`GET ${KEKS}`], answer: ['a'] }],
    [
      'lists soft-deleted ones where this is asked for',
      {
        given: [CREATE, OTHER, DELETE],
        when: [`GET ${KEKS}?deleted=true`],
        answer: ['a', 'kek1'],
      },
    ],
    ['lists a page', { given: [CREATE, OTHER], when: [`GET ${KEKS}?offset=1&limit=1`], answer: ['kek1'] }],
    ['takes limit 0 as no limit', { given: [CREATE, OTHER], when: [`GET ${KEKS}?limit=0`], answer: ['a', 'kek1'] }],
    [
      'lists those with a DEK for a subject with a prefix',
      {
        given: [CREATE, OTHER, DEK, DEK_OF_A],
        when: [`GET ${KEKS}?subjectPrefix=fo`],
        answer: ['a'],
      },
    ],
    [
      'takes several prefixes',
      {
        given: [CREATE, OTHER, DEK, DEK_OF_A],
        when: [`GET ${KEKS}?subjectPrefix=fo&subjectPrefix=s`],
        answer: ['a', 'kek1'],
      },
    ],
  ])('%s', (_, row) => expectRow(row))
})

describe('changing a KEK', () => {
  const FULL: Request = [`POST ${KEKS}`, { ...NEW, kmsProps: { a: '1' }, doc: 'why' }]
  const PUT = `PUT ${KEKS}/kek1`
  it.each<readonly [string, Row]>([
    [
      'changes what is named',
      {
        given: [FULL],
        when: [PUT, { shared: true }],
        answer: { ...KEK, kmsProps: { a: '1' }, doc: 'why', shared: true },
      },
    ],
    [
      'replaces all properties',
      {
        given: [FULL],
        when: [PUT, { kmsProps: { b: '2' } }],
        answer: { ...KEK, kmsProps: { b: '2' }, doc: 'why' },
      },
    ],
    ['removes what is null', { given: [FULL], when: [PUT, { kmsProps: null, doc: null }], answer: KEK }],
    ['may change nothing', { given: [CREATE], when: [PUT, {}], answer: KEK }],
    ['cannot change the KMS', { given: [CREATE], when: [PUT, { kmsType: 'x', kmsKeyId: 'x' }], answer: KEK }],
    ['does not find a soft-deleted one', { given: [CREATE, DELETE], when: [PUT, { doc: 'x' }], ...NOT_FOUND }],
    [
      'needs a body',
      { given: [CREATE], when: [PUT], status: 422, answer: { error_code: 422, message: expect.any(String) } },
    ],
  ])('%s', (_, row) => expectRow(row))
})

describe('deleting a KEK', () => {
  const GONE: Request = [`DELETE ${KEKS}/kek1?permanent=true`]
  const UNDELETE: Request = [`POST ${KEKS}/kek1/undelete`]
  const DELETE_DEK: Request = [`DELETE ${KEKS}/kek1/deks/s`]
  it.each<readonly [string, Row]>([
    ['deletes it softly', { given: [CREATE], when: DELETE, ...DONE }],
    ['may be repeated', { given: [CREATE, DELETE], when: DELETE, ...DONE }],
    ['does not find one that is not there', { when: DELETE, ...NOT_FOUND }],
    ['deletes it for good after that', { given: [CREATE, DELETE], when: GONE, ...DONE }],
    ['leaves nothing behind', { given: [CREATE, DELETE, GONE], when: [`GET ${KEKS}/kek1?deleted=true`], ...NOT_FOUND }],
    [
      'does not delete it for good at once',
      {
        given: [CREATE],
        when: GONE,
        ...refusal(40471, "Key 'kek1' was not deleted first before being permanently deleted"),
      },
    ],
    ['needs it to have no DEK', { given: [CREATE, DEK], when: DELETE, ...REFERENCES }],
    ['may leave soft-deleted DEKs', { given: [CREATE, DEK, DELETE_DEK], when: DELETE, ...DONE }],
    [
      'needs DEKs deleted for good before it is',
      {
        given: [CREATE, DEK, DELETE_DEK, DELETE],
        when: GONE,
        ...REFERENCES,
      },
    ],
    ['can be undone', { given: [CREATE, DELETE], when: UNDELETE, ...DONE }],
    [
      'brings the KEK back when it is undone',
      {
        given: [CREATE, DELETE, UNDELETE],
        when: [`GET ${KEKS}/kek1`],
        answer: KEK,
      },
    ],
    ['may be undone where nothing was deleted', { given: [CREATE], when: UNDELETE, ...DONE }],
    ['cannot be undone where nothing is', { when: UNDELETE, ...NOT_FOUND }],
  ])('%s', (_, row) => expectRow(row))
})
