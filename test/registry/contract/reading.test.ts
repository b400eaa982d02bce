import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'
import { createCaseRunner, type Request, send, sendAll } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// One row for each option of the GET endpoints of the contract. All rows use one registry.

const R1 = '{"type":"record","name":"Order","fields":[{"name":"a","type":"int"}]}'
const R2 = '{"type":"record","name":"Order","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":1}]}'
const BASKET = '{"type":"record","name":"Basket","fields":[{"name":"o","type":"Order"}]}'
const BASKET_RESOLVED = `{"type":"record","name":"Basket","fields":[{"name":"o","type":${R1}}]}`
const PROTO = 'syntax = "proto3";\n\nmessage Event {\n  string name = 1;\n}\n'
const owner = { properties: { owner: 'shop', team: 'a' } }
const rules = { domainRules: [{ name: 'check', kind: 'CONDITION', type: 'CEL', mode: 'WRITE', expr: 'true' }] }

const SCHEMAS: readonly Request[] = [
  ['POST /subjects/orders/versions', { schema: R1 }],
  ['POST /subjects/orders/versions', { schema: R2, metadata: owner }],
  ['POST /subjects/orders/versions', { schema: R1, metadata: owner, ruleSet: rules }],
  ['DELETE /subjects/orders/versions/3'],
  [
    'POST /subjects/basket/versions',
    { schema: BASKET, references: [{ name: 'Order', subject: 'orders', version: 1 }] },
  ],
  [
    'POST /subjects/basket/versions',
    { schema: BASKET, references: [{ name: 'Order', subject: 'orders', version: 2 }] },
  ],
  ['DELETE /subjects/basket/versions/2'],
  ['POST /subjects/gone/versions', { schema: '"bytes"' }],
  ['DELETE /subjects/gone'],
  ['POST /subjects/events/versions', { schemaType: 'PROTOBUF', schema: PROTO }],
  ['POST /subjects/copy/versions', { schema: R1 }],
  ['POST /contexts/.ctx/subjects/stock/versions', { schema: '"long"' }],
  ['PUT /config/wares', { alias: 'orders' }],
]

let registry: TestRegistry
beforeAll(async () => {
  registry = await startTestRegistry()
  await sendAll(registry, SCHEMAS)
})
afterAll(() => registry.stop())

const guid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const ts = expect.any(Number)
const AVRO = { schemaType: 'AVRO', guid, ts }
const ORDERS_1 = { subject: 'orders', version: 1, id: 1, schema: R1, ...AVRO }
const ORDERS_2 = { subject: 'orders', version: 2, id: 2, schema: R2, metadata: owner, ...AVRO }
const ORDERS_3 = {
  subject: 'orders',
  version: 3,
  id: 3,
  schema: R1,
  metadata: owner,
  ruleSet: rules,
  deleted: true,
  ...AVRO,
}
const reference = { name: 'Order', subject: 'orders', version: 1 }
const BASKET_1 = { subject: 'basket', version: 1, id: 4, schema: BASKET, references: [reference], ...AVRO }
const EVENTS = { subject: 'events', version: 1, id: 7, schema: PROTO, ...AVRO, schemaType: 'PROTOBUF' }
const COPY = { subject: 'copy', version: 1, id: 1, schema: R1, ...AVRO }
const STOCK = { subject: ':.ctx:stock', version: 1, id: 1, schema: '"long"', ...AVRO }
const byId = ({ subject: _, version: __, id: ___, ...rest }: typeof ORDERS_1) => rest
const byIdIn = ({ id: _, ...rest }: typeof ORDERS_1) => rest
const listed = (...schemas: object[]) => schemas

describe('the GET endpoints', () => {
  it.each<readonly [path: string, answer: unknown]>([
    ['/', { mode: 'READWRITE' }],

    ['/schemas/types', expect.toSatisfy((types: string[]) => types.toSorted().join() === 'AVRO,JSON,PROTOBUF')],
    ['/schemas', listed(BASKET_1, COPY, EVENTS, ORDERS_1, ORDERS_2)],
    ['/schemas?subjectPrefix=or', listed(ORDERS_1, ORDERS_2)],
    ['/schemas?subjectPrefix=:*:', listed(STOCK, BASKET_1, COPY, EVENTS, ORDERS_1, ORDERS_2)],
    ['/schemas?subjectPrefix=:.ctx:', listed(STOCK)],
    ['/schemas?subjectPrefix=orders&deleted=true', listed(ORDERS_1, ORDERS_2, ORDERS_3)],
    ['/schemas?subjectPrefix=orders&latestOnly=true', listed(ORDERS_2)],
    ['/schemas?subjectPrefix=orders&latestOnly=true&deleted=true', listed(ORDERS_3)],
    ['/schemas?subjectPrefix=orders&aliases=true&latestOnly=true', listed({ ...ORDERS_2, aliases: ['wares'] })],
    ['/schemas?ruleType=CEL&deleted=true', listed(ORDERS_3)],
    ['/schemas?ruleType=CEL', []],
    ['/schemas?offset=1&limit=2', listed(COPY, EVENTS)],
    ['/schemas?limit=-1', listed(BASKET_1, COPY, EVENTS, ORDERS_1, ORDERS_2)],
    ['/contexts/ctx/schemas', listed(STOCK)],

    ['/schemas/ids/1', byId(ORDERS_1)],
    ['/schemas/ids/1?subject=orders', byIdIn(ORDERS_1)],
    ['/schemas/ids/1?subject=copy', byIdIn(COPY)],
    ['/schemas/ids/1?subject=stock', byIdIn(STOCK)],
    ['/schemas/ids/1?subject=:.ctx:stock', byIdIn(STOCK)],
    ['/schemas/ids/1?subject=:.ctx:', byIdIn(STOCK)],
    ['/schemas/ids/1?subject=elsewhere', byIdIn(ORDERS_1)],
    ['/schemas/ids/1?subject=wares', byIdIn(ORDERS_1)],
    ['/schemas/ids/3', { ...byId(ORDERS_3), metadata: owner, ruleSet: rules, deleted: true }],
    ['/schemas/ids/1?fetchMaxId=true', { ...byId(ORDERS_1), maxId: 7 }],
    ['/schemas/ids/1?fetchMaxId=TRUE', { ...byId(ORDERS_1), maxId: 7 }],
    ['/schemas/ids/1?fetchMaxId=yes', byId(ORDERS_1)],
    ['/schemas/ids/4?format=resolved', { ...byId(BASKET_1), schema: BASKET_RESOLVED }],
    ['/schemas/ids/4?format=nonsense', byId(BASKET_1)],
    ['/schemas/ids/7?format=serialized', { ...byId(EVENTS), schema: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/) }],
    ['/schemas/ids/7?format=ignore_extensions', byId(EVENTS)],
    ['/contexts/ctx/schemas/ids/1', byIdIn(STOCK)],
    ['/contexts/.ctx/schemas/ids/1', byIdIn(STOCK)],
    ['/contexts/:.ctx:/schemas/ids/1', byIdIn(STOCK)],
    ['/schemas/ids/1/schema', JSON.parse(R1)],
    ['/schemas/ids/1/schema?subject=stock', 'long'],
    ['/schemas/ids/4/schema?format=resolved', JSON.parse(BASKET_RESOLVED)],
    ['/schemas/ids/7/schema', PROTO],
    ['/schemas/ids/1/subjects', ['copy', 'orders']],
    ['/schemas/ids/1/subjects?subject=orders', ['orders']],
    ['/schemas/ids/1/subjects?offset=1', ['orders']],
    ['/schemas/ids/1/subjects?limit=1', ['copy']],
    ['/schemas/ids/6/subjects', []],
    ['/schemas/ids/6/subjects?deleted=true', ['gone']],
    [
      '/schemas/ids/1/versions',
      [
        { subject: 'copy', version: 1 },
        { subject: 'orders', version: 1 },
      ],
    ],
    ['/schemas/ids/1/versions?subject=orders', [{ subject: 'orders', version: 1 }]],
    ['/schemas/ids/1/versions?limit=1', [{ subject: 'copy', version: 1 }]],
    ['/schemas/ids/3/versions', []],
    ['/schemas/ids/3/versions?deleted=true', [{ subject: 'orders', version: 3 }]],

    ['/subjects', [':.ctx:stock', 'basket', 'copy', 'events', 'orders']],
    ['/subjects?deleted=true', [':.ctx:stock', 'basket', 'copy', 'events', 'gone', 'orders']],
    ['/subjects?deletedOnly=true', ['gone']],
    ['/subjects?deletedOnly=true&deleted=true', ['gone']],
    ['/subjects?subjectPrefix=o', ['orders']],
    ['/subjects?subjectPrefix=', ['basket', 'copy', 'events', 'orders']],
    ['/subjects?subjectPrefix=:*:s', [':.ctx:stock']],
    ['/subjects?subjectPrefix=:.ctx:', [':.ctx:stock']],
    ['/subjects?offset=3', ['events', 'orders']],
    ['/subjects?limit=2', [':.ctx:stock', 'basket']],
    ['/contexts/ctx/subjects', [':.ctx:stock']],
    ['/contexts/ctx/subjects?subjectPrefix=x', []],

    ['/subjects/orders/versions', [1, 2]],
    ['/subjects/wares/versions', [1, 2]],
    ['/subjects/orders/versions/', [1, 2]],
    ['/subjects/orders/versions?deleted=true', [1, 2, 3]],
    ['/subjects/orders/versions?deletedOnly=true', [3]],
    ['/subjects/orders/versions?deletedAsNegative=true', [1, 2, -3]],
    ['/subjects/orders/versions?deletedAsNegative=true&deletedOnly=true', [1, 2, -3]],
    ['/subjects/orders/versions?offset=1&limit=1', [2]],
    ['/subjects/gone/versions?deleted=true', [1]],
    ['/subjects/orders/versions/1', ORDERS_1],
    ['/subjects/wares/versions/1', ORDERS_1],
    ['/subjects/orders/versions/latest', ORDERS_2],
    ['/subjects/orders/versions/Latest', ORDERS_2],
    ['/subjects/orders/versions/-1', ORDERS_2],
    ['/subjects/orders/versions/%202%20', ORDERS_2],
    ['/subjects/orders/versions/3?deleted=true', ORDERS_3],
    ['/subjects/stock/versions/1', STOCK],
    ['/subjects/basket/versions/1', BASKET_1],
    ['/subjects/basket/versions/1?format=resolved', { ...BASKET_1, schema: BASKET_RESOLVED }],
    ['/subjects/orders/versions/2/schema', JSON.parse(R2)],
    ['/subjects/basket/versions/1/schema?format=resolved', JSON.parse(BASKET_RESOLVED)],
    ['/subjects/orders/versions/3/schema?deleted=true', JSON.parse(R1)],
    ['/subjects/orders/versions/1/referencedby', [4]],
    ['/subjects/orders/versions/2/referencedby', []],
    ['/subjects/orders/versions/2/referencedby?deleted=true', [5]],
    ['/subjects/orders/versions/1/referencedby?offset=1', []],
    ['/subjects/orders/metadata?key=owner&value=shop', ORDERS_2],
    ['/subjects/orders/metadata?key=owner&value=shop&key=team&value=a', ORDERS_2],
    ['/subjects/orders/metadata?key=owner&value=shop&deleted=true', ORDERS_3],
    ['/subjects/orders/metadata', ORDERS_2],

    ['/config', { compatibilityLevel: 'BACKWARD' }],
    ['/config?defaultToGlobal=true', { compatibilityLevel: 'BACKWARD' }],
    ['/config/wares', { alias: 'orders', compatibilityLevel: 'BACKWARD' }],
    ['/config/orders?defaultToGlobal=true', { compatibilityLevel: 'BACKWARD' }],
    ['/mode', { mode: 'READWRITE' }],
    ['/mode/orders?defaultToGlobal=true', { mode: 'READWRITE' }],

    ['/contexts', ['.', '.ctx']],
    ['/contexts?offset=1', ['.ctx']],
    ['/contexts?limit=1', ['.']],
    ['/contexts?contextPrefix=.c', ['.ctx']],

    [
      '/v1/metadata/id',
      {
        scope: {
          path: [],
          clusters: { 'kafka-cluster': 'test-cluster', 'schema-registry-cluster': 'schema-registry' },
        },
      },
    ],
    ['/v1/metadata/version', { version: '0.0.0', commitId: expect.any(String) }],
    ['/v1/metadata/deployment', { attributes: [] }],
  ])('%s returns the expected response', { tags: ['slow'] }, async (path, answer) => {
    expect(await send(registry, [`GET ${path}`])).toEqual({ status: 200, body: answer })
  })

  it('qualifies references with their context with referenceFormat=qualified', async () => {
    const own = await startTestRegistry()
    await sendAll(own, [
      ['POST /contexts/ctx/subjects/orders/versions', { schema: R1 }],
      ['POST /contexts/ctx/subjects/basket/versions', { schema: BASKET, references: [reference] }],
    ])
    const references = async (path: string) =>
      ((await own.call('GET', path)).body as { references: unknown }).references
    for (const path of ['/subjects/:.ctx:basket/versions/1', '/contexts/ctx/schemas/ids/2']) {
      expect(await references(path)).toEqual([reference])
      expect(await references(`${path}?referenceFormat=qualified`)).toEqual([{ ...reference, subject: ':.ctx:orders' }])
    }
    await own.stop()
  })

  it('returns a schema and its IDs by GUID', async () => {
    const { guid: found } = (await registry.call('GET', '/schemas/ids/1')).body as { guid: string }
    expect(await send(registry, [`GET /schemas/guids/${found}`])).toEqual({ status: 200, body: byId(ORDERS_1) })
    expect(await send(registry, [`GET /schemas/guids/${found.toUpperCase()}`])).toMatchObject({ status: 200 })
    expect(await send(registry, [`GET /schemas/guids/${found}/ids`])).toEqual({
      status: 200,
      body: [{ context: '.', id: 1 }],
    })
  })
})

describe('the page size', () => {
  const settings = { 'subject.search.default.limit': '1', 'subject.search.max.limit': '2' }
  const given: readonly Request[] = ['a', 'b', 'c'].map((name) => [
    `POST /subjects/${name}/versions`,
    { schema: '"int"' },
  ])

  it.each([
    ['', ['a']],
    ['?limit=-1', ['a']],
    ['?limit=2', ['a', 'b']],
    // A limit above the maximum means the default, not the maximum.
    ['?limit=3', ['a']],
  ])('of GET /subjects%s limits the list to %j', (query, answer) =>
    expectRow({ settings, given, when: [`GET /subjects${query}`], answer }),
  )
})
