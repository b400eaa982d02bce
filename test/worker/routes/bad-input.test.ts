import { expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { readRecords } from '../../support/topic.ts'
import { startTestWorker } from '../../support/worker.ts'

const SOURCE = { 'connector.class': 'FileStreamSource', topic: 'lines', file: 'none.txt' }
const SINK = { 'connector.class': 'FileStreamSink', topics: 'lines', file: 'out.txt' }

type Row = readonly [what: string, body: unknown, message: RegExp | string]

const REFUSED: readonly Row[] = [
  [
    'a class that is not here',
    make({ ...SOURCE, 'connector.class': 'com.example.Bogus' }),
    /^Failed to find any class.*com\.example\.Bogus/,
  ],
  ['no class', make({ topic: 'lines' }), /contains no connector type$/],
  [
    'no topic',
    make({ 'connector.class': 'FileStreamSource' }),
    'Missing required configuration "topic" which has no default value.',
  ],
  ['no config', { name: 'c' }, "'config' is missing"],
  ['a config that is a list', { name: 'c', config: [] }, "'config' is invalid: expected a JSON object"],
  [
    'a value that is an object',
    make({ ...SOURCE, file: { a: 1 } }),
    "'file' of 'config' is invalid: expected a string, a number or a boolean",
  ],
  [
    'a value that is null',
    make({ ...SOURCE, file: null }),
    'Null value can not be supplied as the configuration value.',
  ],
  ['a boolean that is none', make({ ...SOURCE, 'errors.log.enable': 'perhaps' }), 'errors.log.enable'],
  ['a word nobody knows', make({ ...SOURCE, 'errors.tolerance': 'some' }), 'errors.tolerance'],
  [
    'a field nobody knows',
    { ...make(SOURCE), colour: 'red' },
    "unknown field 'colour': expected 'name', 'config', 'initial_state'",
  ],
  ['an initial state nobody knows', { ...make(SOURCE), initial_state: 'DANCING' }, "'initial_state' is 'DANCING'"],
  [
    'no tasks',
    make({ ...SOURCE, 'tasks.max': '0' }),
    'Invalid value 0 for configuration tasks.max: Value must be at least 1',
  ],
  [
    'less than no tasks',
    make({ ...SOURCE, 'tasks.max': -1 }),
    'Invalid value -1 for configuration tasks.max: Value must be at least 1',
  ],
  [
    'tasks that are no number',
    make({ ...SOURCE, 'tasks.max': 'x' }),
    'Invalid value x for configuration tasks.max: Not a number of type INT',
  ],
  [
    'a billion tasks',
    make({ ...SINK, 'tasks.max': 1e9 }),
    'Invalid value 1000000000 for configuration tasks.max: Value must be no more than 10000',
  ],
  ['more tasks than an INT', make({ ...SINK, 'tasks.max': '99999999999' }), 'tasks.max'],
  [
    'a config of 2,001 keys',
    make({ ...SOURCE, ...Object.fromEntries(Array.from({ length: 2_001 }, (_, index) => [`key${index}`, '1'])) }),
    'a configuration has at most 2000',
  ],
  [
    'a config of 4 MB',
    make({ ...SOURCE, doc: 'x'.repeat(4_000_000) }),
    /^the configuration has 4000\d+ bytes: at most 900000 can be stored$/,
  ],
  ['an empty name', make(SOURCE, ''), 'String may not be empty'],
  ['a blank name', make(SOURCE, ' \t'), 'String may not be empty'],
  ['a control character in the name', make(SOURCE, 'a\u0007b'), 'control sequences'],
  [
    'a name that no address can hold',
    make(SOURCE, 'ñ'.repeat(400)),
    'the name has 2400 characters in an address: at most 2048 can be used',
  ],
  ['half a character in the name', make(SOURCE, 'a\ud83d'), 'it is not valid Unicode text'],
  ['half a character in a value', make({ ...SOURCE, file: '\udc00' }), 'it is not valid Unicode text'],
]

const NAMES = ['a/b', '100%', 'ñandú 🦤', '名前', 'a?b#c', '..%2f', '__proto__', 'constructor', "o'; DROP TABLE x --"]

it('an invalid request to create a connector is rejected with its reason, and nothing is stored', {
  tags: ['slow'],
  timeout: 30_000,
}, async () => {
  const { url, broker } = await startTestWorker()
  const before = await storedKeys(broker)
  for (const [what, body, message] of REFUSED) {
    const answer = await send('POST', `${url}/connectors`, body)
    expect([what, answer.status]).toEqual([what, 400])
    if (typeof message === 'string') expect(answer.message, what).toContain(message)
    else expect(answer.message, what).toMatch(message)
  }
  const tooLarge = await send('POST', `${url}/connectors`, make({ ...SOURCE, doc: 'x'.repeat(5_000_000) }))
  expect(tooLarge.status).toBe(413)
  expect(await (await fetch(`${url}/connectors`)).json()).toEqual([])
  expect(await storedKeys(broker)).toEqual(before)
})

it('connectors with any valid name are created, read, changed, stopped and deleted', { tags: ['slow'] }, async () => {
  const { url, broker } = await startTestWorker()
  const client = createWorkerClient({ url })
  for (const name of NAMES) {
    const made = await client.create(name, { ...SOURCE, 'tasks.max': '1' }, 'STOPPED')
    expect(made.name).toBe(name)
    expect((await client.get(name)).config['name']).toBe(name)
    expect((await client.putConfig(name, { ...SOURCE, topic: 'others' })).config['topic'], name).toBe('others')
    await client.stop(name)
    expect(await client.offsets(name), name).toEqual([])
    expect(await client.topics(name), name).toEqual([])
    // A connector is listed as soon as it has a status.
    await expect.poll(async () => Object.keys(await client.list())).toEqual([name])
    await client.delete(name)
    expect(await client.list(), name).toEqual({})
    expect(await storedKeys(broker)).toContain(`connector-${name}`)
  }
})

it('concurrent requests to create the same connector create it once', { tags: ['slow'] }, async () => {
  const { url } = await startTestWorker()
  const asked = Array.from({ length: 8 }, (_, at) => send('POST', `${url}/connectors`, make({ ...SOURCE, batch: at })))
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409])
})

it('concurrent patches of a configuration are all applied', { tags: ['slow'] }, async () => {
  const { url } = await startTestWorker()
  await send('POST', `${url}/connectors`, { ...make(SOURCE), initial_state: 'STOPPED' })
  await Promise.all(['a', 'b', 'c', 'd'].map((key) => send('PATCH', `${url}/connectors/c/config`, { [key]: '1' })))
  expect(await createWorkerClient({ url }).get('c')).toMatchObject({ config: { a: '1', b: '1', c: '1', d: '1' } })
})

function make(config: Readonly<Record<string, unknown>>, name = 'c') {
  return { name, config }
}

async function send(method: string, url: string, body: unknown): Promise<{ status: number; message: string }> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) })
  const { message = '' } = (await response.json()) as { message?: string }
  return { status: response.status, message }
}

async function storedKeys(broker: Broker): Promise<readonly string[]> {
  return (await readRecords(broker, 'connect-configs')).map(({ key }) => String(key))
}
