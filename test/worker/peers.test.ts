import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tlsMaterial } from '../../src/config/tls.ts'
import { Peers, type PeerTls } from '../../src/worker/peers.ts'

const pem = (name: string) => join(import.meta.dirname, '../support/tls', name)
const TRUST = { 'ssl.truststore.location': pem('ca.pem') }
const REQUEST = { method: 'PUT', url: '/connectors/c/config', headers: { authorization: 'Basic x' }, body: { a: 'ä' } }

describe('a worker on https with a certificate of a private authority', () => {
  it('is reached by one that trusts it and shows a certificate of its own', async () => {
    const url = await startPeer()
    const us = peers(tlsMaterial({ ...TRUST, 'ssl.keystore.location': pem('client.pem') }))
    expect(await us.pass(url, REQUEST, true)).toEqual({
      status: 201,
      location: '/here',
      text: 'PUT /connectors/c/config?forward=false Basic x {"a":"ä"}',
    })
    await expect(us.fence(url, 'c')).resolves.toBeUndefined()
  })

  it('is not taken by one that does not trust it, and takes nobody without a certificate', async () => {
    const url = await startPeer()
    await expect(peers({}).pass(url, REQUEST, true)).rejects.toMatchObject({ code: 'peer_failed' })
    await expect(peers(tlsMaterial(TRUST)).pass(url, REQUEST, true)).rejects.toMatchObject({ code: 'peer_failed' })
  })

  it('is told from one that nobody listens for', async () => {
    expect(await peers({}).pass('https://127.0.0.1:1', REQUEST, true)).toBeUndefined()
  })
})

function peers(tls: PeerTls): Peers {
  return new Peers({ session: () => undefined, signatureAlgorithm: 'HmacSHA256', timeoutMs: 20_000, tls })
}

async function startPeer(): Promise<string> {
  const material = tlsMaterial({ ...TRUST, 'ssl.keystore.location': pem('server.pem') })
  const server = createServer({ ...material, requestCert: true, rejectUnauthorized: true }, (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const status = request.url?.endsWith('/fence') ? 200 : 201
      response.writeHead(status, { location: '/here' })
      response.end(`${request.method} ${request.url} ${request.headers.authorization} ${Buffer.concat(parts)}`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}
