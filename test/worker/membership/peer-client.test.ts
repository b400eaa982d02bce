import { copyFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { watchContent } from '../../../src/common/file-watcher.ts'
import type { ClientTls } from '../../../src/common/http-agent.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { tlsMaterial } from '../../../src/tls/tls-material.ts'
import { PeerClient } from '../../../src/worker/membership/peer-client.ts'
import { peerTls } from '../../../src/worker/rest-server.ts'
import { workerSettings } from '../../../src/worker/settings.ts'
import { startHttpServer } from '../../support/http-server.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const pem = (name: string) => join(import.meta.dirname, '../../support/tls', name)
const TRUST = { 'ssl.truststore.location': pem('ca.pem') }
const OPTIONS = { session: () => undefined, signatureAlgorithm: 'HmacSHA256', timeoutMs: 20_000 }
const REQUEST = { method: 'PUT', url: '/connectors/c/config', headers: { authorization: 'Basic x' }, body: { a: 'ä' } }

describe('PeerClient over HTTPS with certificates of a private authority', () => {
  it('reaches a worker whose authority it trusts, with its own client certificate', async () => {
    const url = await startPeer()
    const client = peers(tlsMaterial({ ...TRUST, 'ssl.keystore.location': pem('client.pem') }))
    expect(await client.forward(url, REQUEST, true)).toEqual({
      status: 201,
      location: '/here',
      text: 'PUT /connectors/c/config?forward=false Basic x {"a":"ä"}',
    })
    await expect(client.fenceZombieSourceTasks(url, 'c')).resolves.toBeUndefined()
  })

  it('does not send to a worker whose authority it does not trust, and is rejected without a client certificate', async () => {
    const url = await startPeer()
    await expect(peers({}).forward(url, REQUEST, true)).rejects.toMatchObject({ code: 'peer_failed' })
    await expect(peers(tlsMaterial(TRUST)).forward(url, REQUEST, true)).rejects.toMatchObject({ code: 'peer_failed' })
  })

  it('reaches a worker after its authority was added to the truststore file', async () => {
    const url = await startPeer()
    const file = join(temporaryDirectory(), 'trust.pem')
    copyFileSync(pem('shorter.pem'), file)
    const written = {
      listeners: 'https://127.0.0.1:0',
      'ssl.truststore.location': file,
      'ssl.keystore.location': pem('client.pem'),
    }
    const settings = workerSettings(Object.entries(written).map(([key, value]) => ({ key, value, source: 'here' })))
    const certificates = watchContent({ ...peerTls(settings)!, logger: silentLogger() })
    onTestFinished(() => certificates.close())
    const client = new PeerClient({ ...OPTIONS, tls: certificates.current })
    await expect(client.fenceZombieSourceTasks(url, 'c')).rejects.toMatchObject({ code: 'peer_failed' })
    copyFileSync(pem('ca.pem'), file)
    await vi.waitFor(() => client.fenceZombieSourceTasks(url, 'c'), { timeout: 25_000 })
  })

  it('reports that the leader may not fence tasks, with its reason, so that the task fails instead of asking again', async () => {
    const body = JSON.stringify({ error_code: 424, message: 'WRITE on transactional id t' })
    const { url } = await startHttpServer(() => ({ status: 424, body }))
    await expect(peers({}).fenceZombieSourceTasks(url, 'c')).rejects.toMatchObject({
      code: 'fencing_rejected',
      message: expect.stringMatching(/^the leader 127.0.0.1:\d+: WRITE on transactional id t$/),
    })
  })

  it('returns undefined for an address on which no worker listens', async () => {
    expect(await peers({}).forward('https://127.0.0.1:1', REQUEST, true)).toBeUndefined()
  })
})

function peers(tls: ClientTls): PeerClient {
  return new PeerClient({ ...OPTIONS, tls: () => tls })
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
