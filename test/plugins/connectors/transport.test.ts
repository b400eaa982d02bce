import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { httpSink } from '../../../src/plugins/connectors/http-sink/confluent.ts'
import { webhookSource } from '../../../src/plugins/connectors/webhook/webhook-source.ts'
import { runSink, runSource } from '../../../src/sdk/index.ts'
import { OK, startHttpServer } from '../../support/http-server.ts'

describe('the HTTP transport', () => {
  it('connects through a proxy with authentication', async () => {
    const server = await startHttpServer(() => OK)
    const seen: (string | undefined)[] = []
    const proxy = createServer((incoming, outgoing) => {
      seen.push(incoming.headers['proxy-authorization'])
      const { method, headers, url = '' } = incoming
      const forwarded = request(url, { method: method!, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode!)
        answer.pipe(outgoing)
      })
      incoming.pipe(forwarded)
    })
    const port = await listen(proxy)
    await put({
      'http.api.url': `${server.url}/in`,
      'http.proxy.host': '127.0.0.1',
      'http.proxy.port': String(port),
      'http.proxy.user': 'ann',
      'http.proxy.password': 'p@ss',
    })
    expect(server.seen.map(({ path, body }) => [path, body])).toEqual([['/in', 'x']])
    expect(seen).toEqual([`Basic ${btoa('ann:p@ss')}`])
  })

  it('names the remedy for rejected proxy credentials and for missing certificates', async () => {
    const proxy = createServer((_, outgoing) => void outgoing.writeHead(407).end())
    proxy.on('connect', (_, socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'))
    const through = {
      ...{ 'http.proxy.host': '127.0.0.1', 'http.proxy.port': String(await listen(proxy)) },
      ...{ 'http.proxy.user': 'ann', 'http.proxy.password': 'geheim' },
    }
    await expect(put({ 'http.api.url': 'http://h.example/', ...through })).rejects.toThrow(
      /responded with 407: proxy authentication failed: check http\.proxy\.user/,
    )
    const error = await put({ 'http.api.url': 'https://h.example/', ...through }).catch((failed: Error) => failed)
    expect(error).toMatchObject({ code: 'retriable', message: expect.stringMatching(/407.*: check http\.proxy\.user/) })
    expect(String(error)).not.toContain('geheim')
    const missing = { 'http.api.url': 'https://h/', 'https.ssl.truststore.location': '/nowhere/ca.pem' }
    await expect(put(missing)).rejects.toThrow(/ssl\.truststore\.location.*\/nowhere\/ca\.pem/)
  })

  it('uses the configured truststore, and presents the client certificate', async () => {
    const names: unknown[] = []
    const server = createSecureServer(
      { key: pem('server.pem'), cert: pem('server.pem'), ca: pem('ca.pem'), requestCert: true },
      (incoming, outgoing) => {
        names.push((incoming.socket as TLSSocket).getPeerCertificate().subject.CN)
        incoming.resume().once('end', () => outgoing.end())
      },
    )
    const url = `https://localhost:${await listen(server)}/in`
    const error = await put({ 'http.api.url': url }).catch((failed: Error) => failed)
    expect(error).toMatchObject({
      code: 'retriable',
      message: expect.stringMatching(
        /certificate.*: add the CA of its certificate to https\.ssl\.truststore\.location$/,
      ),
    })
    await put({
      'http.api.url': url,
      'https.ssl.truststore.location': file('ca.pem'),
      'https.ssl.keystore.location': file('client.pem'),
    })
    expect(names).toEqual([new X509Certificate(pem('client.pem')).subject.replace(/^(.*\n)*CN=/, '')])
  })

  it('connects to a WebhookSource with HTTPS', async () => {
    let port = 0
    const note = (fields: object) => {
      port = (fields as { port?: number }).port ?? port
    }
    const run = runSource(webhookSource, {
      config: {
        topic: 'events',
        listener: 'https://127.0.0.1:0',
        'https.ssl.keystore.location': file('server.pem'),
      },
      log: { debug: note, info: note, warn: note, error: note },
    })
    onTestFinished(() => run.stop())
    await run.nextBatch()
    const putting = put({
      'http.api.url': `https://localhost:${port}/`,
      'https.ssl.truststore.location': file('ca.pem'),
    })
    const [record] = await run.take(1)
    expect(record?.value).toBe('x')
    run.stored([record!])
    await putting
  })
})

function file(name: string): string {
  return join(import.meta.dirname, '../../support/tls', name)
}

function pem(name: string): string {
  return readFileSync(file(name), 'utf8')
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function put(config: Readonly<Record<string, string>>): Promise<void> {
  const run = await runSink(httpSink, { config })
  onTestFinished(() => run.stop())
  await run.put([{ topic: 't', value: 'x' }])
}
