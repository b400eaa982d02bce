import { expect, it } from 'vitest'
import type { Broker, GroupDescription } from '../../../src/broker/broker.ts'
import { readWorkerGroup } from '../../../src/cli/takeover/read-worker-group.ts'
import { encodeWorkerMetadata } from '../../../src/worker/membership/connect-protocol.ts'
import { type Responder, startHttpServer } from '../../support/http-server.ts'

const CONNECTOR = { name: 'orders', config: { 'connector.class': 'FileStreamSource' }, tasks: [], type: 'source' }

/** A worker with one connector that has no status yet. */
const worker: Responder = ({ path }) => {
  if (path === '/connectors') return { status: 200, body: '["orders"]' }
  if (path === '/connectors/orders') return { status: 200, body: JSON.stringify(CONNECTOR) }
  return { status: 404, body: '{"error_code":404,"message":"not found"}' }
}

function brokerWith(urls: readonly string[]): Broker {
  const members = urls.map((url) => ({
    memberId: url,
    clientId: 'connect',
    clientHost: '/127.0.0.1',
    metadata: encodeWorkerMetadata('sessioned', { url, configOffset: 1, assignment: null }),
    assignment: Buffer.alloc(0),
  }))
  const protocol = { protocolType: 'connect', protocol: 'sessioned' }
  const group: GroupDescription = { groupId: 'c1', state: 'stable', ...protocol, members }
  return { groups: { describe: async () => group }, topics: { list: async () => ['c1-configs'] } } as unknown as Broker
}

const LOCATION = { groupId: 'c1', topics: ['c1-configs', 'c1-offsets'], tls: undefined }

it('reads the connectors of the first worker of a group that responds, also those without a status', async () => {
  const server = await startHttpServer(worker)
  const broker = brokerWith(['http://127.0.0.1:1/', server.url])
  const found = await readWorkerGroup(broker, { ...LOCATION, worker: undefined })
  const orders = { name: 'orders', class: 'FileStreamSource', status: undefined, offsets: undefined }
  expect(found).toMatchObject({ connectors: [orders], missingTopics: ['c1-offsets'] })
})

it('sends credentials to the named worker only, not to those that the group names', async () => {
  const [named, member] = [await startHttpServer(worker), await startHttpServer(worker)]
  const broker = brokerWith([member.url])
  const auth = { username: 'ada', password: 'secret' }
  await readWorkerGroup(broker, { ...LOCATION, worker: { url: named.url, auth } })
  expect(named.seen.map(({ headers }) => headers.authorization)).toContain(
    `Basic ${Buffer.from('ada:secret').toString('base64')}`,
  )
  expect(member.seen).toEqual([])
  await readWorkerGroup(broker, { ...LOCATION, worker: undefined })
  expect(member.seen.length).toBeGreaterThan(0)
  expect(member.seen.filter(({ headers }) => headers.authorization !== undefined)).toEqual([])
})
