import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isGone } from '../../support/process-tree.ts'
import { type RegistryProcess, startRegistryProcess } from '../../support/registry-process.ts'
import { expectServiceDuring, expectShortTurns, MEASURING_TURNS, measureTurns } from '../../support/service-during.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'

const MEGABYTE = 1_000_000
const GRACE_PERIOD_MS = 25_000
const WAIT = { everyMs: 50, timeoutMs: 120_000 }

describe('the registry', () => {
  it('serves other clients while it compares schemas with hostile regular expressions', async () => {
    const registry = await startRegistry()
    await register(registry, 'victim', {
      schemaType: 'JSON',
      schema: JSON.stringify({
        type: 'object',
        properties: { [`${'a'.repeat(40)}!`]: { type: 'string' } },
      }),
    })
    const hidden =
      '{"type":"object","pattern\\u0050roperties":{"^(a+)+$":{"type":"integer"}},"additionalProperties":false}'
    await register(registry, 'slow-reference', { schemaType: 'JSON', schema: hidden })
    const bodies = [
      { schemaType: 'JSON', schema: hidden },
      { schemaType: 'JSON', schema: hidden.replace('(a+)+$', '(?=(a+))(?:a|a)+\\\\1$') },
      {
        schemaType: 'JSON',
        schema: '{"$ref":"slow.json"}',
        references: [{ name: 'slow.json', subject: 'slow-reference', version: 1 }],
      },
    ]
    await expectSteadyService(registry, async () => {
      const path = '/compatibility/subjects/victim/versions/latest'
      const statuses = await Promise.all(bodies.map((body) => post(`${registry.url}${path}`, JSON.stringify(body))))
      expect(statuses.filter((status) => status >= 500)).toEqual([])
    })
  })

  it('stops on SIGTERM while it compares a regular expression', async () => {
    const registry = await startRegistry()
    const schema = JSON.stringify({ type: 'object', properties: { [`${'a'.repeat(60)}!`]: { type: 'string' } } })
    await register(registry, 'victim', { schemaType: 'JSON', schema })
    const slow =
      '{"type":"object","patternProperties":{"(?=(a+))(?:a|a)+\\\\1$":{"type":"integer"}},"additionalProperties":false}'
    const answer = post(
      `${registry.url}/compatibility/subjects/victim/versions/latest`,
      JSON.stringify({ schemaType: 'JSON', schema: slow }),
    ).catch(() => 0)
    await until('the comparison to begin', WAIT, () => childrenOf(registry) > 0)
    await expectEnd(registry)
    await answer
  })

  it('processes 40 bodies of 9.9 MB with limited memory, and small ones without delay meanwhile', async () => {
    const registry = await startRegistry({
      // A busy machine takes longer than the defaults to send and process all of them.
      'http.header.timeout.ms': '120000',
      'http.request.timeout.ms': '240000',
      'http.bodies.wait.timeout.ms': '120000',
    })
    const text = JSON.stringify({ schemaType: 'JSON', schema: JSON.stringify({ description: 'x'.repeat(9_900_000) }) })
    const before = residentMegabytes(registry)
    await expectSteadyService(registry, async () => {
      const statuses = await Promise.all(
        Array.from({ length: 40 }, () => post(`${registry.url}/subjects/none/versions`, text).catch(() => 0)),
      )
      // None fails by a lost connection.
      expect(statuses.filter((status) => ![200, 404, 422, 503].includes(status))).toEqual([])
    })
    expect(before).toBeLessThan(400)
    expect(peakMegabytes(registry)).toBeLessThan(600)
  })

  it('serves other clients while 1,500 connections send nothing, and closes those', async () => {
    const registry = await startRegistry({ 'http.header.timeout.ms': '3000' })
    const sockets = await Promise.all(Array.from({ length: 1_500 }, () => open(registry.url, 'GET / HTTP/1.1\r\n')))
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
    await expectSteadyService(registry, async () => {
      await until('all to be closed', WAIT, () => sockets.every((socket) => socket.closed))
    })
  })

  it('admits other clients when the maximum number of connections is held open', async () => {
    const registry = await startRegistry({ 'http.connections.max': '200' })
    const sockets = await Promise.all(Array.from({ length: 400 }, () => open(registry.url, '')))
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
    await expectSteadyService(registry, () => delay(1_000))
    expect(await metric(registry, 'connection_evicted')).toBeGreaterThan(100)
  })

  it('serves other clients while 50 bodies arrive very slowly, and ends those', async () => {
    const registry = await startRegistry({ 'http.header.timeout.ms': '2000' })
    const head =
      'POST /subjects/s/versions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n'
    const sockets = await Promise.all(
      Array.from({ length: 50 }, () => open(registry.url, `${head}${' '.repeat(70_000)}`)),
    )
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write(' ')
    }, 200)
    onTestFinished(() => clearInterval(drip))
    await expectSteadyService(registry, async () => {
      await until('all to be closed', WAIT, () => sockets.every((socket) => socket.closed))
    })
    expect(await metric(registry, 'body_too_slow')).toBeGreaterThan(0)
  })

  it('serves other clients while large responses are not read, and closes those connections', async () => {
    const registry = await startRegistry({ 'http.response.stall.timeout.ms': '3000' })
    // A page of 15 MB: more than the sockets of both sides hold.
    const schema = JSON.stringify({ type: 'object', description: 'x'.repeat(300_000) })
    for (let index = 0; index < 50; index += 1) {
      await register(registry, `s${index}`, { schemaType: 'JSON', schema: schema.replace('x', `${index}`) })
    }
    const line = 'GET /schemas HTTP/1.1\r\nHost: x\r\n\r\n'
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open(registry.url, '')))
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
    await expectSteadyService(registry, async () => {
      for (const socket of sockets) {
        socket.pause()
        socket.write(line)
        await delay(10)
      }
      await until('them to be closed', WAIT, async () => (await metric(registry, 'response_stalled')) > 0)
    })
    expect(peakMegabytes(registry)).toBeLessThan(600)
  })

  it('serves other clients while one sends many pipelined requests, long URLs and many headers', async () => {
    const registry = await startRegistry()
    await expectSteadyService(registry, async () => {
      const requests = [
        'GET /subjects HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_000),
        `GET /subjects?${'a=1&'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET /subjects?${'a&'.repeat(7_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET /${'a/'.repeat(7_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 1_900 }, (_, i) => `h${i}:1\r\n`).join('')}\r\n`,
        `GET / HTTP/1.1\r\nHost: x\r\nAccept: ${'a/b;q=0.1,'.repeat(1_500)}\r\n\r\n`,
      ]
      const sockets = await Promise.all(requests.map((text) => open(registry.url, text)))
      onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
      await delay(2_000)
    })
  })

  it('stops on SIGTERM while bodies and connections are held open', async () => {
    const registry = await startRegistry()
    const head =
      'POST /subjects/s/versions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n'
    const sockets = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        open(registry.url, index % 2 === 0 ? '' : `${head}${' '.repeat(100_000)}`),
      ),
    )
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
    await expectEnd(registry)
  })
})

describe('the worker', () => {
  it('serves other clients while it receives hostile bodies and regular expressions', async () => {
    const log = ['--data', temporaryDirectory()]
    const worker = await startWorkerProcess({ log, groupId: 'attacked', nodeArgs: MEASURING_TURNS })
    onTestFinished(() => worker.kill())
    const validate = `${worker.url}/connector-plugins/HttpSink/config/validate`
    const put = (body: string) => send('PUT', validate, body).catch(() => 0)
    const sink = { 'connector.class': 'HttpSink', name: 'a', 'http.url': 'http://127.0.0.1:1/' }
    const letters = { 'errors.deadletterqueue.topic.name': `${'a'.repeat(60)}!` }
    // Code is loaded with the first validation, which is nobody's fault.
    expect(await put(JSON.stringify({ ...sink, topics: 't' }))).toBe(200)
    measureTurns(worker)
    const attacks: Readonly<Record<string, string>> = {
      expression: JSON.stringify({ ...sink, ...letters, 'topics.regex': '(a+)+' }),
      'expression with look-ahead': JSON.stringify({ ...sink, ...letters, 'topics.regex': '(a+)+(?=!)!b' }),
      placeholder: JSON.stringify({ ...sink, topics: 't', a: `\${${':'.repeat(100_000)}` }),
      nested: '['.repeat(3 * MEGABYTE),
      wide: `[${'[],'.repeat(MEGABYTE)}[]]`,
      keys: `{${Array.from({ length: 250_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
      'some keys': JSON.stringify({
        ...sink,
        topics: 't',
        ...Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`httq.urx${index}`, '1'])),
      }),
      text: JSON.stringify({ ...sink, topics: 't', a: 'x'.repeat(3 * MEGABYTE) }),
      digits: `{"a":${'9'.repeat(3 * MEGABYTE)}}`,
      'digits and wide': `[${'9'.repeat(20)},${'[],'.repeat(MEGABYTE)}[]]`,
      large: `{"a":"${'x'.repeat(9_600_000)}"}`,
    }
    for (const [name, body] of Object.entries(attacks)) {
      await expectServiceDuring(
        `${worker.url}/`,
        () =>
          withConsequences(async () => {
            const status = await put(body)
            expect([name, status]).toEqual([name, expect.toSatisfy((one: number) => one < 500)])
          }),
        name,
      )
    }
    expect(peakMegabytes(worker)).toBeLessThan(600)
    await expectShortTurns(worker)
    await expectEnd(worker)
  })
})

type Attacked = Pick<RegistryProcess, 'url' | 'pid' | 'directory'>

async function startRegistry(settings: Readonly<Record<string, string>> = {}): Promise<RegistryProcess> {
  const registry = await startRegistryProcess(['--data', temporaryDirectory()], settings, MEASURING_TURNS)
  onTestFinished(() => registry.kill())
  for (const [schemaType, schema] of Object.entries({ AVRO: '"int"', JSON: '{}', PROTOBUF: 'message M {}' })) {
    await register(registry, `warm-${schemaType}`, { schemaType, schema })
  }
  return registry
}

async function register({ url }: Attacked, subject: string, body: object): Promise<void> {
  expect(await post(`${url}/subjects/${subject}/versions`, JSON.stringify(body))).toBe(200)
}

const post = (url: string, body: string) => send('POST', url, body)

async function send(method: string, url: string, body: string): Promise<number> {
  const response = await fetch(url, { method, headers: { 'content-type': 'application/json' }, body })
  await response.arrayBuffer()
  return response.status
}

/** Expects that the program serves another client during an attack, and that the attack causes no long turn. */
async function expectSteadyService(attacked: Attacked, attack: () => Promise<unknown>): Promise<void> {
  measureTurns(attacked)
  await expectServiceDuring(`${attacked.url}/`, () => withConsequences(attack))
  await expectShortTurns(attacked)
}

/** A program may still process requests after their responses. */
async function withConsequences(attack: () => Promise<unknown>): Promise<void> {
  await attack()
  await delay(300)
}

function open(url: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.on('error', () => undefined)
      socket.resume().write(text)
      resolve(socket)
    }).once('error', reject)
  })
}

async function metric({ url }: Attacked, reason: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`weir_http_limited_total\\{reason="${reason}"\\} (\\d+)`).exec(text)?.[1] ?? 0)
}

const statusOf = ({ pid = 0 }: Attacked) => readFileSync(`/proc/${pid}/status`, 'utf8')
const residentMegabytes = (process: Attacked) => Number(/VmRSS:\s+(\d+)/.exec(statusOf(process))?.[1]) / 1_024
const peakMegabytes = (process: Attacked) => Number(/VmHWM:\s+(\d+)/.exec(statusOf(process))?.[1]) / 1_024
const childrenOf = ({ pid = 0 }: Attacked) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).length

/** Expects that SIGTERM ends the program, and not the end of its grace period. */
async function expectEnd({ pid = 0 }: Attacked): Promise<void> {
  process.kill(pid, 'SIGTERM')
  await until('the program to end', { everyMs: 50, timeoutMs: GRACE_PERIOD_MS - 5_000 }, () => isGone(pid))
}
