import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { parseConnectionUrl } from '../../../../src/plugins/connectors/postgres/connection-url.ts'
import { Session } from '../../../../src/plugins/connectors/postgres/session.ts'
import { UNRESTRICTED } from '../../../../src/sdk/index.ts'

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Opens a session to a server that accepts connections and never answers. */
async function openSilent(signal: AbortSignal) {
  const server = createServer()
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
