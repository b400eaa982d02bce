import { describe, expect, it } from 'vitest'
import { convertTexts } from '../../support/conversion.ts'

const strimzi = (name: string, config = '', more = '') => `apiVersion: kafka.strimzi.io/v1
kind: KafkaConnector
metadata: {name: ${name}${more}}
spec: {class: FileStreamSource, config: {${config}}}
`

describe('secrets of the input', () => {
  it('are replaced by references, and no value is written or printed', () => {
    const config = [
      'db.password: hunter22',
      'sasl.jaas.config: "LoginModule required username=\\"u\\" password=\\"jaas-pa55\\";"',
      'connection.url: "jdbc:x://user:url-pa55@db/x"',
      'app.id: Zk3vQ9xTb7LmR2wYc8NpH4sDfG6jKa1e',
      'file: /data/in',
    ]
    const { spec, secrets, text, findings } = convertTexts({
      'a.yaml': strimzi('orders', config.join(', '), ', namespace: shop'),
    })
    expect(findings).toEqual([])
    expect(spec['config']).toEqual({ file: '/data/in' })
    const keys = ['db.password', 'sasl.jaas.config', 'connection.url', 'app.id']
    expect(spec['valuesFrom']).toEqual(keys.map((key) => ({ key, secretKeyRef: { name: 'orders-secrets', key } })))
    expect(secrets).toMatchObject([
      { name: 'orders-secrets', namespace: 'shop', keys: keys.map((secretKey) => ({ secretKey })) },
    ])
    expect(text).not.toMatch(/hunter22|jaas-pa55|url-pa55|Zk3vQ9/)
  })

  it('that are placeholders of a config provider stay as they are', () => {
    const jaas = 'LoginModule required username=\\"${file:/x:u}\\" password=\\"${file:/x:p}\\";'
    const { spec, secrets } = convertTexts({
      'a.yaml': strimzi('o', `db.password: "\${file:/x:y}", sasl.jaas.config: "${jaas}"`),
    })
    expect(secrets).toEqual([])
    expect(spec['config']).toMatchObject({ 'db.password': '${file:/x:y}' })
  })

  it('in the annotation that repeats the whole object are not copied', () => {
    const annotation = ', annotations: {kubectl.kubernetes.io/last-applied-configuration: \'{"p": "hunter22"}\'}'
    const { manifests, text, findings } = convertTexts({ 'a.yaml': strimzi('o', '', annotation) })
    expect(findings).toEqual([])
    expect(manifests[0]?.['metadata']).toEqual({ name: 'o' })
    expect(text).not.toContain('hunter22')
  })
})

describe('names', () => {
  it('that Kubernetes does not accept are changed, and the runtime keeps the original', () => {
    const { manifests } = convertTexts({ 'a.json': '{"name": "Orders_Sink", "config": {"connector.class": "X"}}' })
    expect(manifests).toMatchObject([{ metadata: { name: 'orders-sink' }, spec: { name: 'Orders_Sink' } }])
  })

  it('that become equal stay distinct, whatever the order of the input is', () => {
    const file = (name: string) => `{"name": "${name}", "config": {"connector.class": "X"}}`
    const namesOf = (...names: string[]) =>
      Object.fromEntries(
        convertTexts(Object.fromEntries(names.map((name, at) => [`${at}.json`, file(name)]))).manifests.map(
          (manifest) => [
            (manifest['spec'] as { name?: string }).name ?? 'orders-a',
            (manifest['metadata'] as { name: string }).name,
          ],
        ),
      )
    const names = namesOf('Orders_A', 'orders-a', 'orders_a')
    expect(new Set(Object.values(names)).size).toBe(3)
    expect(names['orders-a']).toBe('orders-a')
    expect(namesOf('orders_a', 'orders-a', 'Orders_A')).toEqual(names)
  })

  it('that occur twice are reported with the place of the first', () => {
    const { manifests, findings } = convertTexts({ 'a.yaml': strimzi('o'), 'b.yaml': strimzi('o') })
    expect(manifests).toHaveLength(1)
    expect(findings).toEqual(['b.yaml:1: Connector o is declared at a.yaml:1 already'])
  })
})

describe('documents that cannot be converted', () => {
  it('do not affect the others of their file', () => {
    const { manifests, findings } = convertTexts({ 'a.yaml': `${strimzi('a')}---\nkind: [half\n---\n${strimzi('b')}` })
    expect(manifests).toHaveLength(2)
    expect(findings).toEqual([expect.stringMatching(/^a\.yaml:[67]: is not valid YAML/)])
  })

  it.each([
    [
      'apiVersion: kafka.strimzi.io/v1\nkind: KafkaConnect\nmetadata: {name: c}',
      /kind: KafkaConnect c .*operator\.workers/,
    ],
    ['apiVersion: kafka.strimzi.io/v1\nkind: KafkaConector\nmetadata: {name: c}', /did you mean KafkaConnector\?/],
    ['apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}', /Deployment web of apps\/v1 cannot be converted/],
    ['bootstrap.servers: kafka:9092', /settings of a worker/],
    ['hello', /expected a map/],
    ['a: *nowhere', /is not valid YAML/],
    ['name: {{ .Values.x }}-y', /template/],
  ])('are named: %s', (text, message) => {
    const { manifests, findings } = convertTexts({ 'a.yaml': text })
    expect(manifests).toEqual([])
    expect(findings).toEqual([expect.stringMatching(message)])
  })

  it('include a file that is not encoded in UTF-8', () => {
    expect(convertTexts({ 'a.yaml': Buffer.from([0x61, 0xff]) }).findings).toEqual([
      'a.yaml:1: is not encoded in UTF-8',
    ])
  })

  it('include aliases that expand to an excessive number of nodes', () => {
    const level = (name: string, of: string) => `${name}: &${name} [${Array.from({ length: 9 }, () => of).join(',')}]`
    const bomb = [level('a', 'x'), ...'bcdefghi'.split('').map((name, at) => level(name, `*${'abcdefgh'[at]}`))].join(
      '\n',
    )
    expect(convertTexts({ 'a.yaml': bomb }).findings).toEqual([expect.stringContaining('Excessive alias count')])
  })

  it('include excessive nesting', () => {
    const { manifests, findings } = convertTexts({ 'a.json': '['.repeat(5_000), 'b.yaml': strimzi('b') })
    expect(manifests).toHaveLength(1)
    expect(findings).toEqual([expect.stringContaining('a.json:1: ')])
  })
})

describe('lists', () => {
  it('are converted item by item, also if the items have no kind of their own', () => {
    const item = (name: string) => ({ metadata: { name }, spec: { class: 'X', odd: 1 } })
    const api = { apiVersion: 'kafka.strimzi.io/v1', kind: 'KafkaConnector' }
    const { manifests, findings } = convertTexts({
      'typed.json': JSON.stringify({ ...api, kind: 'KafkaConnectorList', items: [item('a')] }),
      'list.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [{ ...api, ...item('b') }] }, null, 2),
    })
    expect(manifests).toHaveLength(2)
    expect(findings).toEqual([
      expect.stringContaining('typed.json:1: items[0].spec.odd'),
      expect.stringContaining('list.json:13: items[0].spec.odd'),
    ])
  })
})

describe('a thousand documents', { tags: ['slow'] }, () => {
  it('are converted in the order of the input', () => {
    const names = Array.from({ length: 1_000 }, (_, at) => `c-${(at * 7919) % 1_000}`)
    const text = names.map((name) => `{"name": "${name}", "config": {"connector.class": "X"}}`)
    const { manifests } = convertTexts({ 'a.json': `[${text.join(',\n')}]` })
    expect(manifests.map((manifest) => (manifest['metadata'] as { name: string }).name)).toEqual(names)
  })
})

describe('the option --from', () => {
  it('skips the resources of other systems with a note', () => {
    const { manifests, findings } = convertTexts({ 'a.yaml': strimzi('a') }, { from: 'strimzi' })
    expect([manifests.length, findings.length]).toEqual([1, 0])
  })
})
