import { once } from 'node:events'
import { createServer, IncomingMessage, request, ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { ChangeFeed } from '../../src/console/change-feed.ts'
import { type EventReader, EventStreams } from '../../src/console/event-streams.ts'
import { until } from '../support/until.ts'

const WAIT = { everyMs: 10, timeoutMs: 60_000 }
const STREAMS_MAX = 100
const HEARTBEAT_MS = 20

/** A server whose responses are event streams, or 503 if none can be opened. */
async function startStreams({ mayRead = () => true, ...others }: Partial<EventReader> = {}) {
  const feed = new ChangeFeed()
  const streams = new EventStreams(feed, others.reauthorize ? HEARTBEAT_MS : undefined)
  let open = 0
  const server = createServer((_request, response) => {
    if (!streams.open(response, { mayRead, ...others })) return void response.writeHead(503).end()
    open += 1
    response.once('close', () => {
      open -= 1
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { feed, connect: () => connectTo(port), open: () => open }
}

async function connectTo(port: number): Promise<IncomingMessage> {
  const outgoing = request({ port, host: '127.0.0.1', agent: false })
  outgoing.on('error', () => undefined)
  outgoing.end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  response.on('error', () => undefined)
  return response
}

/** Collects the events of a response. */
function eventsOf(response: IncomingMessage): { text: string } {
  const received = { text: '' }
  response.setEncoding('utf8').on('data', (chunk: string) => {
    received.text += chunk
  })
  return received
}

function changesIn(text: string): unknown[] {
  return [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data = '']) => JSON.parse(data) as unknown[])
}

it('Events contain the objects that have changed, each once, and only those that the user may read', async () => {
  const { feed, connect } = await startStreams({ mayRead: ({ name }) => name !== 'secret' })
  const response = await connect()
  const received = eventsOf(response)
  expect(response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  for (const name of ['a', 'secret', 'b', 'a']) feed.publish({ kind: 'connector', name })
  feed.publish({ kind: 'subject', name: 'secret' })
  await until('the event', WAIT, () => received.text.includes('data: '))
  expect(changesIn(received.text)).toEqual([{ kind: 'connector', names: ['a', 'b'] }])
})

it('A line break in a name does not end an event', async () => {
  const { feed, connect } = await startStreams()
  const received = eventsOf(await connect())
  const name = 'a\n\nevent: change\ndata: [1]\n\n'
  feed.publish({ kind: 'subject', name })
  await until('the event', WAIT, () => received.text.includes('data: '))
  expect(changesIn(received.text)).toEqual([{ kind: 'subject', names: [name] }])
})

it('More changes than an event may contain are reported as a change of all objects', async () => {
  const { feed, connect } = await startStreams()
  const received = eventsOf(await connect())
  for (let at = 0; at < 2_000; at++) feed.publish({ kind: 'connector', name: `c${at}` })
  feed.publish({ kind: 'subject', name: null })
  feed.publish({ kind: 'subject', name: 's' })
  await until('the event', WAIT, () => received.text.includes('data: '))
  expect(changesIn(received.text)).toEqual([
    { kind: 'connector', names: null },
    { kind: 'subject', names: null },
  ])
})

it('The number of streams is limited, and a closed stream makes room for another one', async () => {
  const { connect, open } = await startStreams()
  const responses = await Promise.all(Array.from({ length: STREAMS_MAX }, connect))
  expect(responses.map(({ statusCode }) => statusCode)).not.toContain(503)
  expect((await connect()).statusCode).toBe(503)
  responses[0]?.destroy()
  await until('the end of a stream', WAIT, () => open() < STREAMS_MAX)
  expect((await connect()).statusCode).toBe(200)
})

it('A page that is closed before its event stream opens does not count against the limit of streams', async () => {
  const feed = new ChangeFeed()
  const streams = new EventStreams(feed)
  for (let page = 0; page < STREAMS_MAX + 1; page++) {
    const response = new ServerResponse(new IncomingMessage(new Socket()))
    response.destroy()
    await once(response, 'close')
    expect(streams.open(response, { mayRead: () => true })).toBe(true)
  }
})

it('A page that does not read its events is disconnected', { tags: ['slow'] }, async () => {
  const { feed, connect, open } = await startStreams()
  ;(await connect()).pause()
  const names = Array.from({ length: 10 }, (_, at) => `${'x'.repeat(1_000_000)}${at}`)
  await until('the disconnection', WAIT, () => {
    for (const name of names) feed.publish({ kind: 'connector', name })
    return open() === 0
  })
})

it('A stream ends at the heartbeat after its user has lost the right to use the program', async () => {
  let isRevoked = false
  const reauthorize = async () => {
    if (isRevoked) throw new Error('HTTP 401 Unauthorized')
  }
  const { feed, connect } = await startStreams({ reauthorize })
  const response = await connect()
  const received = eventsOf(response)
  const ended = once(response, 'end')
  await until('two heartbeats', WAIT, () => received.text.split(': alive').length > 2)
  expect(response.readableEnded).toBe(false)
  isRevoked = true
  await ended
  feed.publish({ kind: 'connector', name: 'a' })
  expect(received.text).not.toContain('data: ')
})

it('Streams end when the program stops, and no others are opened', async () => {
  const { feed, connect } = await startStreams()
  const response = await connect()
  const ended = once(response.resume(), 'end')
  feed.close()
  await ended
  expect((await connect()).statusCode).toBe(503)
})
