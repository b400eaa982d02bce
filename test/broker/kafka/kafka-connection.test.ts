import { copyFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { expect, it, onTestFinished, vi } from 'vitest'
import { readClientConfig } from '../../../src/broker/kafka/client-config.ts'
import { createConnector } from '../../../src/broker/kafka/kafka-connection.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { tlsMaterial } from '../../../src/tls/tls-material.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const pem = (name: string) => join(import.meta.dirname, '../../support/tls', name)
const TRUST = { 'ssl.truststore.location': pem('ca.pem') }

it('uses the current client certificate for each new connection', async () => {
  const keystore = join(temporaryDirectory(), 'keystore.pem')
  copyFileSync(pem('client.pem'), keystore)
  const shown: string[] = []
  const material = tlsMaterial({ ...TRUST, 'ssl.keystore.location': pem('server.pem') })
  const server = createServer({ ...material, requestCert: true, rejectUnauthorized: false }, (socket) => {
    shown.push(String(socket.getPeerCertificate().subject.CN))
    socket.on('error', () => undefined).destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { config, tls } = readClientConfig({
    'bootstrap.servers': '127.0.0.1:1',
    'security.protocol': 'SSL',
    'ssl.keystore.location': keystore,
    ...TRUST,
  })
  const lines = createConnector(config, silentLogger(), tls)
  onTestFinished(() => lines.close())
  const { port } = server.address() as AddressInfo
  const shownNow = async () => {
    // The server closes the connection before the client can send anything.
    await expect(lines.open({ host: '127.0.0.1', port })).rejects.toMatchObject({ code: 'unavailable' })
    return shown.at(-1)
  }
  expect(await shownNow()).toBe('client')
  copyFileSync(pem('server.pem'), keystore)
  await vi.waitFor(async () => expect(await shownNow()).toBe('server'), { timeout: 25_000 })
})
