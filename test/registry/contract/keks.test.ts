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
    ['responds with it', { when: KEK, answer: THE_KEK }],
    [
      'keeps properties, sorted, and the description',
      {
        when: [`POST ${KEKS}`, { ...NEW_KEK, kmsProps: { b: '2', a: '1' }, doc: 'why', shared: true, unknown: 1 }],
        answer: { ...THE_KEK, kmsProps: { a: '1', b: '2' }, doc: 'why', shared: true },
      },
    ],
    [
      'takes scalars of other types as Jackson does',
      {
        when: [`POST ${KEKS}`, { ...NEW_KEK, kmsKeyId: 5, doc: true, shared: 'true', deleted: null }],
        answer: { ...THE_KEK, kmsKeyId: '5', doc: 'true', shared: true },
      },
    ],
    [
      'stores the types of cloud providers in one spelling',
      {
        when: [`POST ${KEKS}`, { ...NEW_KEK, kmsType: 'AWS' }],
        answer: { ...THE_KEK, kmsType: 'aws-kms' },
      },
    ],
    [
      'may create it as deleted',
      {
        when: [`POST ${KEKS}`, { ...NEW_KEK, deleted: true }],
        answer: { ...THE_KEK, deleted: true },
      },
    ],
    ['refuses one that exists', { given: [KEK], when: KEK, ...EXISTS }],
    ['undeletes the same KEK', { given: [KEK, DELETE_KEK], when: KEK, answer: THE_KEK }],
    ['does not undelete another KEK of this name', { given: [KEK, DELETE_KEK], when: SHARED_KEK, ...EXISTS }],
    ['has the same KEKs in every context', { given: [KEK], when: [`POST /contexts/.c${KEKS}`, NEW_KEK], ...EXISTS }],
    ['needs a body', { when: [`POST ${KEKS}`], status: 422, answer: { error_code: 422, message: expect.any(String) } }],
    [
      'refuses a body that is no object',
      {
        when: [`POST ${KEKS}`, []],
        status: 400,
        answer: { error_code: 400, message: expect.any(String) },
      },
    ],
    ['needs a name', { when: [`POST ${KEKS}`, { ...NEW_KEK, name: undefined }], ...invalidKey('name') }],
    ['needs a KMS type', { when: [`POST ${KEKS}`, { ...NEW_KEK, kmsType: undefined }], ...invalidKey('kmsType') }],
    ['needs a key id', { when: [`POST ${KEKS}`, { ...NEW_KEK, kmsKeyId: '' }], ...invalidKey('kmsKeyId') }],
    [
      'takes the longest name',
      {
        when: [`POST ${KEKS}`, { ...NEW_KEK, name: `_${'ä1-'.repeat(85)}` }],
        answer: { ...THE_KEK, name: `_${'ä1-'.repeat(85)}` },
      },
    ],
    ...['1a', '-a', 'a.b', 'a b', 'a/b', '𝒳', 'a𝒳', 'a'.repeat(257)].map((name): readonly [string, RegistryCase] => [
      `refuses the name ${name.slice(0, 9)}`,
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
        `takes the key id of ${kmsType}`,
        {
          when: [`POST ${KEKS}`, { ...NEW_KEK, kmsType, kmsKeyId: good }],
          answer: { ...THE_KEK, kmsType, kmsKeyId: good },
        },
      ],
      [
        `refuses another key id of ${kmsType}`,
        { when: [`POST ${KEKS}`, { ...NEW_KEK, kmsType, kmsKeyId: bad }], ...invalidKey('kmsKeyId') },
      ],
    ]),
    [
      'refuses more than the configured number, soft-deleted ones included',
      {
        settings: { 'dek.registry.max.keys': '1' },
        given: [KEK, DELETE_KEK, [`POST ${KEKS}`, { ...NEW_KEK, name: 'kek2' }]],
        when: [`POST ${KEKS}`, { ...NEW_KEK, name: 'kek3' }],
        ...errorResponse(40972, 'A maximum of 1 keys already exist'),
      },
    ],
  ])('%s', (_, row) => expectRow(row))
})

describe('testing a KEK', () => {
  const unknown = (name: string) => ({ ...NEW_KEK, kmsType: 'unknown-kms', shared: true, name })
  const failure = expect.stringMatching(
    /^Error while creating key: Could not generate encrypted dek for __TEST: no driver for KMS type 'unknown-kms'/,
  )
  it.each<readonly [string, RegistryCase]>([
    [
      'responds with its record',
      {
        given: [SHARED_KEK],
        when: [`POST ${KEKS}/kek1/test`],
        answer: { ...THE_KEK, shared: true, type: 'KEK', deleted: false, offset: expect.any(Number) },
      },
    ],
    ['needs a shared one', { given: [KEK], when: [`POST ${KEKS}/kek1/test`], ...invalidKey('shared') }],
    ['does not find one that is not there', { when: [`POST ${KEKS}/kek1/test`], ...NO_KEK }],
    [
      'does not find a soft-deleted one',
      { given: [SHARED_KEK, DELETE_KEK], when: [`POST ${KEKS}/kek1/test`], ...NO_KEK },
    ],
    [
      'reports a KMS that is unknown',
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
        answer: { ...THE_KEK, kmsType: 'unknown-kms' },
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
  const OTHER: Request = [`POST ${KEKS}`, { ...NEW_KEK, name: 'a' }]
  const DEK_OF_A: Request = [`POST ${KEKS}/a/deks/foo`, { encryptedKeyMaterial: 'AQID' }]
  it.each<readonly [string, RegistryCase]>([
    ['finds one', { given: [KEK], when: [`GET ${KEKS}/kek1`], answer: THE_KEK }],
    ['finds none', { when: [`GET ${KEKS}/kek1`], ...NO_KEK }],
    ['refuses what is no name', { when: [`GET ${KEKS}/1a`], ...invalidKey('name') }],
    ['does not find a soft-deleted one', { given: [KEK, DELETE_KEK], when: [`GET ${KEKS}/kek1`], ...NO_KEK }],
    [
      'finds a soft-deleted one where this is asked for',
      {
        given: [KEK, DELETE_KEK],
        when: [`GET ${KEKS}/kek1?deleted=true`],
        answer: { ...THE_KEK, deleted: true },
      },
    ],
    ['lists none', { when: [`GET ${KEKS}`], answer: [] }],
    ['lists names in order', { given: [KEK, OTHER], when: [`GET ${KEKS}`], answer: ['a', 'kek1'] }],
    ['leaves soft-deleted ones out', { given: [KEK, OTHER, DELETE_KEK], when: [`GET ${KEKS}`], answer: ['a'] }],
    [
      'lists soft-deleted ones where this is asked for',
      {
        given: [KEK, OTHER, DELETE_KEK],
        when: [`GET ${KEKS}?deleted=true`],
        answer: ['a', 'kek1'],
      },
    ],
    ['lists a page', { given: [KEK, OTHER], when: [`GET ${KEKS}?offset=1&limit=1`], answer: ['kek1'] }],
    ['takes limit 0 as no limit', { given: [KEK, OTHER], when: [`GET ${KEKS}?limit=0`], answer: ['a', 'kek1'] }],
    [
      'lists those with a DEK for a subject with a prefix',
      {
        given: [KEK, OTHER, DEK, DEK_OF_A],
        when: [`GET ${KEKS}?subjectPrefix=fo`],
        answer: ['a'],
      },
    ],
    [
      'takes several prefixes',
      {
        given: [KEK, OTHER, DEK, DEK_OF_A],
        when: [`GET ${KEKS}?subjectPrefix=fo&subjectPrefix=s`],
        answer: ['a', 'kek1'],
      },
    ],
  ])('%s', (_, row) => expectRow(row))
})

describe('changing a KEK', () => {
  const FULL: Request = [`POST ${KEKS}`, { ...NEW_KEK, kmsProps: { a: '1' }, doc: 'why' }]
  const PUT = `PUT ${KEKS}/kek1`
  it.each<readonly [string, RegistryCase]>([
    [
      'changes what is named',
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
    ['removes what is null', { given: [FULL], when: [PUT, { kmsProps: null, doc: null }], answer: THE_KEK }],
    ['may change nothing', { given: [KEK], when: [PUT, {}], answer: THE_KEK }],
    ['cannot change the KMS', { given: [KEK], when: [PUT, { kmsType: 'x', kmsKeyId: 'x' }], answer: THE_KEK }],
    ['does not find a soft-deleted one', { given: [KEK, DELETE_KEK], when: [PUT, { doc: 'x' }], ...NO_KEK }],
    [
      'needs a body',
      { given: [KEK], when: [PUT], status: 422, answer: { error_code: 422, message: expect.any(String) } },
    ],
  ])('%s', (_, row) => expectRow(row))
})

describe('deleting a KEK', () => {
  const GONE: Request = [`DELETE ${KEKS}/kek1?permanent=true`]
  const UNDELETE: Request = [`POST ${KEKS}/kek1/undelete`]
  it.each<readonly [string, RegistryCase]>([
    ['deletes it softly', { given: [KEK], when: DELETE_KEK, ...DONE }],
    ['may be repeated', { given: [KEK, DELETE_KEK], when: DELETE_KEK, ...DONE }],
    ['does not find one that is not there', { when: DELETE_KEK, ...NO_KEK }],
    ['deletes it for good after that', { given: [KEK, DELETE_KEK], when: GONE, ...DONE }],
    ['leaves nothing behind', { given: [KEK, DELETE_KEK, GONE], when: [`GET ${KEKS}/kek1?deleted=true`], ...NO_KEK }],
    [
      'does not delete it for good at once',
      {
        given: [KEK],
        when: GONE,
        ...errorResponse(40471, "Key 'kek1' was not deleted first before being permanently deleted"),
      },
    ],
    ['needs it to have no DEK', { given: [KEK, DEK], when: DELETE_KEK, ...REFERENCES }],
    ['may leave soft-deleted DEKs', { given: [KEK, DEK, DELETE_DEK], when: DELETE_KEK, ...DONE }],
    [
      'needs DEKs deleted for good before it is',
      {
        given: [KEK, DEK, DELETE_DEK, DELETE_KEK],
        when: GONE,
        ...REFERENCES,
      },
    ],
    ['can be undone', { given: [KEK, DELETE_KEK], when: UNDELETE, ...DONE }],
    [
      'brings the KEK back when it is undone',
      {
        given: [KEK, DELETE_KEK, UNDELETE],
        when: [`GET ${KEKS}/kek1`],
        answer: THE_KEK,
      },
    ],
    ['may be undone where nothing was deleted', { given: [KEK], when: UNDELETE, ...DONE }],
    ['cannot be undone where nothing is', { when: UNDELETE, ...NO_KEK }],
  ])('%s', (_, row) => expectRow(row))
})

describe('registering a schema whose rule names only a key of a KMS', () => {
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
    ['completes the rule', { when: REGISTER, answer: expect.objectContaining({ id: 1, ruleSet: completed }) }],
    [
      'is the same schema each time',
      {
        given: [REGISTER],
        when: REGISTER,
        answer: expect.objectContaining({ id: 1, version: 1 }),
      },
    ],
    [
      'completes a rule that comes with tags',
      {
        given: [['POST /subjects/s/versions', { schema: '"int"' }]],
        when: ['POST /subjects/s/versions/1/tags', { ruleSet: sent }],
        answer: expect.objectContaining({ version: 2, ruleSet: completed }),
      },
    ],
    [
      'leaves the rule alone without a DEK registry',
      {
        settings: { 'weir.dek.registry.enable': 'false' },
        when: REGISTER,
        answer: expect.objectContaining({ ruleSet: sent }),
      },
    ],
  ])('%s', (_, row) => expectRow(row))
})
