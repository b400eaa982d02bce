import { createServer, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { openBroker } from '../../src/broker/open-broker.ts'
import { openStateTopic } from '../../src/broker/state-topic/state-topic.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'

/**
 * A registry in a process of its own that takes part in elections and writes to the topic as Confluent's does: it resigns
 * at the beginning of each rebalance, a new leader writes a NOOP and reads up to it, and no writer fences another. It
 * registers schemas and returns them, without any check. Arguments: BOOTSTRAP PORT TOPIC GROUP_ID.
 */
const [bootstrap = '', port = '', topic = '', groupId = ''] = process.argv.slice(2)

type StoredSchema = { readonly subject: string; readonly version: number; readonly id: number; readonly schema: string }
type MemberIdentity = { readonly host: string; readonly port: number; readonly master_eligibility: boolean }

const broker = await openBroker(
  { kind: 'kafka', config: { 'bootstrap.servers': bootstrap } },
  { logger: silentLogger() },
)
const schemas = new Map<string, StoredSchema>()
const log = await openStateTopic({
  broker,
  logger: silentLogger(),
  topic: { name: topic, partitions: 1, replicationFactorMax: 1, configs: { 'cleanup.policy': 'compact' } },
  isolation: 'read_uncommitted',
  decode: ({ key, value }) => ({ key: String(key), value: value === null ? null : JSON.parse(String(value)) }),
  apply: ({ key, value }) => {
    if (JSON.parse(key).keytype === 'SCHEMA' && value !== null) schemas.set(value.subject, value)
  },
})
const producer = await broker.producer({})
/** The URL of the leader, as the last election decided; its own while this instance leads. */
let leaderUrl: string | undefined
let isLeader = false
/** Writes and elections wait for each other. */
let last: Promise<unknown> = Promise.resolve()

function exclusively<Result>(action: () => Promise<Result>): Promise<Result> {
  const result = last.then(action)
  last = result.catch(() => undefined)
  return result
}

async function append(key: object, value: object | null): Promise<void> {
  const bytes = { key: Buffer.from(JSON.stringify(key)), value: value && Buffer.from(JSON.stringify(value)) }
  await log.appendBy(producer, [{ ...bytes, partition: 0 }])
}

/** Undefined while this instance does not lead. */
async function register(subject: string, schema: string): Promise<StoredSchema | undefined> {
  if (!isLeader) return undefined
  const known = schemas.get(subject)
  if (known?.schema === schema) return known
  const id = Math.max(0, ...[...schemas.values()].map((one) => one.id)) + 1
  const stored = { subject, version: (known?.version ?? 0) + 1, id, schema, deleted: false }
  await append({ keytype: 'SCHEMA', subject, version: stored.version, magic: 1 }, stored)
  return stored
}

async function registerOrForward(request: IncomingMessage, subject: string): Promise<[number, unknown]> {
  const body = (await json(request)) as { readonly schema: string }
  const stored = await exclusively(() => register(subject, body.schema))
  if (stored !== undefined) return [200, { id: stored.id, version: stored.version }]
  const leaderless: [number, unknown] = [503, { error_code: 50004, message: 'no leader' }]
  if (leaderUrl === undefined || request.headers['x-forward'] !== undefined) return leaderless
  const headers = { 'content-type': 'application/json', 'x-forward': 'true' }
  const sent = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(`${leaderUrl}${request.url}`, sent).catch(() => undefined)
  return response === undefined
    ? [500, { error_code: 50003, message: 'not forwarded' }]
    : [response.status, await response.json()]
}

const membership = await broker.joinGroup({
  groupId,
  protocolType: 'sr',
  clientId: 'sr-1',
  sessionTimeoutMs: 6_000,
  heartbeatMs: 500,
  protocol: {
    protocols: () => {
      const identity = { version: 1, host: '127.0.0.1', port: Number(port), master_eligibility: true, scheme: 'http' }
      return [{ name: 'v0', metadata: Buffer.from(JSON.stringify({ ...identity, leader: isLeader })) }]
    },
    assign: (_, members) => {
      const eligible = members
        .map(({ memberId, metadata }) => ({ memberId, identity: JSON.parse(String(metadata)) as MemberIdentity }))
        .filter(({ identity }) => identity.master_eligibility)
        .sort((a, b) => a.identity.port - b.identity.port)
      const [chosen] = eligible
      const result = {
        version: 1,
        error: 0,
        master: chosen?.memberId ?? null,
        master_identity: chosen?.identity ?? null,
      }
      return new Map(members.map(({ memberId }) => [memberId, Buffer.from(JSON.stringify(result))]))
    },
    onRevoked: () => exclusively(async () => resign()),
    onLost: () => exclusively(async () => resign()),
    onJoined: ({ assignment, memberId }) =>
      exclusively(async () => {
        const { master, master_identity: leader } = JSON.parse(String(assignment))
        leaderUrl = leader === null ? undefined : `http://${leader.host}:${leader.port}`
        if (master !== memberId) return
        await append({ keytype: 'NOOP', magic: 0 }, null)
        isLeader = true
      }),
  },
})

function resign(): void {
  isLeader = false
  leaderUrl = undefined
}

async function answer(request: IncomingMessage): Promise<[number, unknown]> {
  const { method, url = '' } = request
  const [, name = '', rest] = /^\/subjects\/([^/]+)\/versions(\/latest)?$/.exec(url) ?? []
  const subject = decodeURIComponent(name)
  if (method === 'POST' && name !== '') return registerOrForward(request, subject)
  if (rest === undefined) return [200, url.startsWith('/schemas') ? [...schemas.values()] : {}]
  return schemas.has(subject) ? [200, schemas.get(subject)] : [404, { error_code: 40401, message: 'no such subject' }]
}

const server = createServer((request, response) => {
  answer(request).then(
    ([status, body]) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    () => response.writeHead(500).end('{"error_code":50001,"message":"not stored"}'),
  )
})
server.listen(Number(port), '127.0.0.1')

process.once('SIGTERM', async () => {
  await membership.close()
  server.close()
  server.closeAllConnections()
  await producer.close()
  await log.close()
  await broker.close()
})
