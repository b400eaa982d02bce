import { describe, expect, it } from 'vitest'
import { convertTexts } from '../../support/conversion.ts'

const CONFIG = { 'connector.class': 'FileStreamSink', 'tasks.max': '3', topics: 'orders' }
const SPEC = { class: 'FileStreamSink', tasksMax: 3, config: { topics: 'orders' } }

describe('a configuration of Kafka Connect', () => {
  it.each([
    ['with its name', { name: 'orders', config: CONFIG }],
    [
      'as the response of GET /connectors/NAME',
      { name: 'orders', config: { ...CONFIG, name: 'orders' }, tasks: [], type: 'sink' },
    ],
    ['without a wrapper', { name: 'orders', ...CONFIG }],
    ['as a member of GET /connectors?expand=info', { orders: { info: { name: 'orders', config: CONFIG } } }],
    ['as an item of a list', [{ name: 'orders', config: CONFIG }]],
  ])('is converted %s', (_, value) => {
    const { manifests, findings } = convertTexts({ 'a.json': JSON.stringify(value) })
    expect(findings).toEqual([])
    expect(manifests).toMatchObject([{ metadata: { name: 'orders' }, spec: SPEC }])
  })

  it.each([
    ['', ''],
    ['[', ']'],
    ['{"name": "orders", "config": ', '}'],
  ])('keeps numbers as they are written, with %s around it', (before, after) => {
    const config = '{"name": "orders", "connector.class": "FileStreamSink", "a": 1.0, "b": 0.10, "c": 1e3, "d": true}'
    const { spec } = convertTexts({ 'a.json': `\ufeff${before}${config}${after}` })
    expect(spec['config']).toEqual({ a: '1.0', b: '0.10', c: '1e3', d: 'true' })
  })

  it('is named after its file if it has no name', () => {
    const { manifests } = convertTexts({ 'sinks/orders.json': JSON.stringify(CONFIG) })
    expect(manifests).toMatchObject([{ metadata: { name: 'orders' } }])
  })

  it('keeps the state in which the connector is created or runs', () => {
    expect(
      convertTexts({ 'a.json': JSON.stringify({ name: 'a', config: CONFIG, initial_state: 'PAUSED' }) }).spec['state'],
    ).toBe('Paused')
    const expanded = { a: { info: { name: 'a', config: CONFIG }, status: { connector: { state: 'STOPPED' } } } }
    expect(convertTexts({ 'a.json': JSON.stringify(expanded) }).spec['state']).toBe('Stopped')
  })

  it('leaves out a tasks.max that is not a number, and reports it', () => {
    const { spec, findings } = convertTexts({ 'a.json': JSON.stringify({ ...CONFIG, 'tasks.max': '${env:N}' }) })
    expect(spec['tasksMax']).toBeUndefined()
    expect(findings).toEqual([expect.stringContaining("tasks.max '${env:N}' is not a whole number")])
  })
})

describe('a properties file of connect-standalone', () => {
  it('is read with the syntax of Java', () => {
    const text = [
      '# the sink',
      '! also a comment',
      'name = orders',
      'connector.class:FileStreamSink',
      'topics=a,\\',
      '   b',
      'file=C:\\\\data\\u00e4\\t',
      'key\\ with\\=signs value',
    ]
    const { spec } = convertTexts({ 'a.properties': text.join('\r\n') })
    expect(spec['config']).toEqual({ topics: 'a,b', file: 'C:\\dataä\t', 'key with=signs': 'value' })
  })

  it('is read as ISO 8859-1, as Kafka does', () => {
    const bytes = Buffer.from('name=a\nconnector.class=X\nfile=\xe4', 'latin1')
    expect(convertTexts({ 'a.properties': bytes }).spec['config']).toEqual({ file: 'ä' })
  })

  it('of a worker is named as such', () => {
    const { findings } = convertTexts({ 'a.properties': 'bootstrap.servers=kafka:9092\n' })
    expect(findings).toEqual([expect.stringContaining('weir worker --config')])
  })
})
