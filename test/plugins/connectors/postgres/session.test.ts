import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { parseConnectionUrl } from '../../../../src/plugins/connectors/postgres/connection-url.ts'
import { Session } from '../../../../src/plugins/connectors/postgres/session.ts'
import { UNRESTRICTED } from '../../../../src/sdk/index.ts'

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Opens a session to a server that accepts connections, and gives one answer to each of the first messages. */
async function openSilent(signal: AbortSignal, answers: readonly Buffer[] = [], queryTimeoutMs = 0) {
  const server = createServer((socket) => {
    let next = 0
    socket.on('data', () => socket.write(answers[next++] ?? ''))
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const { port } = server.address() as AddressInfo
  const options = {
    url: parseConnectionUrl(`jdbc:postgresql://127.0.0.1:${port}/db?sslmode=disable`),
    user: 'weir',
    password: 'a secret',
    applicationName: 'test',
    queryTimeoutMs,
    log: SILENT,
    access: UNRESTRICTED,
    signal,
  }
  return { accepted, opened: Session.open(options, { attempts: 1, backoffMs: 0 }) }
}

it('a session that is being opened ends when its signal is aborted', async () => {
  const stopping = new AbortController()
  const { accepted, opened } = await openSilent(stopping.signal)
  await accepted
  stopping.abort()
  await expect(opened).rejects.toThrow('the connection was closed while it was being established')
})

it('a session is not opened when its signal is already aborted', async () => {
  const { opened } = await openSilent(AbortSignal.abort())
  await expect(opened).rejects.toThrow('the connection was closed while it was being established')
})

it('a query without an answer ends its session after the timeout', async () => {
  const ready = serverMessage('Z', Buffer.from('I'))
  const authenticated = Buffer.concat([serverMessage('R', Buffer.alloc(4)), ready])
  const set = Buffer.concat([serverMessage('C', Buffer.from('SET\0')), ready])
  const { opened } = await openSilent(new AbortController().signal, [authenticated, set], 20)
  await using session = await opened
  await expect(session.query('list tables', 'SELECT 1')).rejects.toMatchObject({
    message:
      'could not list tables: the server has not answered for 20 ms; check that the server is reachable from this worker',
    isTransient: true,
  })
  await expect.poll(() => session.isOpen).toBe(false)
})

function serverMessage(type: string, body: Buffer): Buffer {
  const header = Buffer.alloc(5)
  header.write(type)
  header.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([header, body])
}
