import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HttpAgent, type HttpAgentOptions, readText } from '../../src/common/http-agent.ts'

const pem = (name: string) => readFileSync(join(import.meta.dirname, '../support/tls', name), 'utf8')
const NEVER = new AbortController().signal

describe('HttpAgent', () => {
  it('sends sequential requests over one connection', async () => {
    const { url, connections } = await serve((_, response) => response.end('ok'))
    const agent = open()
    for (let turn = 0; turn < 3; turn++) expect(await get(agent, url)).toBe('ok')
    expect(connections()).toBe(1)
  })

  it('checks each connection, and connects to the address that was checked', async () => {
    const { port } = await serve((_, response) => response.end('ok'))
    const asked: string[] = []
    const agent = open({
      connectOptions(host, to) {
        asked.push(`${host}:${to}`)
        if (host !== 'rebind.example') throw Object.assign(new Error('denied'), { code: 'not_allowed' })
        return { lookup: (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]) }
      },
    })
    expect(await get(agent, `http://rebind.example:${port}/`)).toBe('ok')
    await expect(get(agent, `http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'not_allowed' })
    await expect(get(agent, `http://[::1]:${port}/`)).rejects.toMatchObject({ code: 'not_allowed' })
    expect(asked).toEqual([`rebind.example:${port}`, `127.0.0.1:${port}`, `::1:${port}`])
  })

  it('rejects a name of which each address is denied', async () => {
    const denied = Object.assign(new Error('denied'), { code: 'not_allowed' })
    const agent = open({ connectOptions: () => ({ lookup: (_name, _options, callback) => callback(denied, '') }) })
    await expect(get(agent, 'http://rebind.example:1/')).rejects.toBe(denied)
  })

  it('does not follow redirects', async () => {
    const { url } = await serve((_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end())
    const response = await open().send({ method: 'GET', url: new URL(url), headers: {}, signal: NEVER })
    expect([response.status, await readText(response)]).toEqual([302, ''])
  })

  it('ends a response that stalls when its signal aborts', async () => {
    const { url } = await serve((_, response) => void response.writeHead(200).write('begin'))
    const stopped = new AbortController()
    const response = await open().send({ method: 'GET', url: new URL(url), headers: {}, signal: stopped.signal })
    const read = readText(response)
    stopped.abort(new Error('too late'))
    await expect(read).rejects.toThrow('too late')
  })

  it('ends the connection of a response that is too large', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const { url } = await serve((request, response) => {
      request.socket.once('close', () => resolve())
      response.on('drain', () => response.write(Buffer.alloc(65_536))).write(Buffer.alloc(1_000_000))
    })
    const response = await open().send({ method: 'GET', url: new URL(url), headers: {}, signal: NEVER })
    await expect(readText(response, 1_000)).rejects.toThrow('the response has more than 1000 bytes')
    await closed
  })

  it('repeats a request whose kept connection the server closed, unless it may have had an effect', async () => {
    let requests = 0
    const { url } = await serve((request, response) => {
      requests += 1
      if (requests % 2 === 0) request.socket.destroy()
      else response.end('ok')
    })
    const agent = open()
    await get(agent, url)
    expect(await get(agent, url)).toBe('ok')
    await expect(
      agent.send({ method: 'POST', url: new URL(url), headers: {}, body: 'x', signal: NEVER }),
    ).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' })
    expect(requests).toBe(4)
    await get(agent, url)
    await agent
      .send({ method: 'DELETE', url: new URL(url), headers: {}, signal: NEVER })
      .then((response) => readText(response))
    expect(requests).toBe(7)
    const forwarded = { url: new URL(url), headers: {}, isForwarded: true, signal: NEVER }
    await expect(agent.send({ method: 'DELETE', ...forwarded })).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' })
    expect(requests).toBe(8)
    await get(agent, url)
    await readText(await agent.send({ method: 'GET', ...forwarded }))
    expect(requests).toBe(11)
  })

  it('sends user and password of the URL as BASIC credentials', async () => {
    const { port } = await serve((request, response) => response.end(request.headers.authorization))
    expect(await get(open(), `http://ann:p%40ss@127.0.0.1:${port}/`)).toBe(`Basic ${btoa('ann:p@ss')}`)
  })

  it('connects through a proxy by a tunnel to a TLS server, with its own trust', async () => {
    const server = createSecureServer({ key: pem('server.pem'), cert: pem('server.pem') }, (_, response) =>
      response.end('ok'),
    )
    const port = await listen(server)
    const tunnels: unknown[] = []
    const proxy = createServer()
    proxy.on('connect', (request, socket) => {
      tunnels.push([request.url, request.headers['proxy-authorization']])
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const outgoing = connect(port, '127.0.0.1').on('error', () => socket.destroy())
      socket
        .on('error', () => outgoing.destroy())
        .pipe(outgoing)
        .pipe(socket)
    })
    const proxyUrl = `http://ann:secret@127.0.0.1:${await listen(proxy)}`
    const agent = open({ proxyUrl, tls: { ca: pem('ca.pem') } })
    expect(await get(agent, `https://localhost:${port}/`)).toBe('ok')
    expect(tunnels).toEqual([[`localhost:${port}`, `Basic ${btoa('ann:secret')}`]])
  })

  it('uses renewed certificates for new connections', async () => {
    const server = createSecureServer({ key: pem('server.pem'), cert: pem('server.pem') }, (_, response) =>
      response.end('ok'),
    )
    const url = `https://localhost:${await listen(server)}/`
    const agent = open({ tls: { ca: pem('shorter.pem') } })
    await expect(get(agent, url)).rejects.toThrow(/certificate/)
    agent.setTls({ ca: pem('ca.pem') })
    expect(await get(agent, url)).toBe('ok')
  })
})

function open(options?: HttpAgentOptions): HttpAgent {
  const agent = new HttpAgent(options)
  onTestFinished(() => agent.close())
  return agent
}

async function get(agent: HttpAgent, url: string): Promise<string> {
  return readText(await agent.send({ method: 'GET', url: new URL(url), headers: {}, signal: NEVER }))
}

async function serve(answer: RequestListener) {
  let connections = 0
  const server = createServer(answer).on('connection', () => {
    connections += 1
  })
  const port = await listen(server)
  return { url: `http://127.0.0.1:${port}/`, port, connections: () => connections }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
