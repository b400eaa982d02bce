import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type KubernetesObject, Reflector } from '../../../src/clients/kubernetes/reflector.ts'
import { createLogger } from '../../../src/common/logging/logger.ts'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { json, type ScriptedApi, scriptedApi } from '../../support/scripted-api.ts'

const PATH = `/apis/${API_VERSION}/subjects`

let script: ScriptedApi
let clock: FakeClock
let seen: string[]
let waits: number[]
let reflector: Reflector<KubernetesObject>
let restarts: string[]
const watches: ServerResponse[] = []

const object = (name: string, version: number): KubernetesObject => ({
  metadata: { namespace: 'n', name, uid: name, resourceVersion: String(version) },
})
const list = (version: number, names: readonly string[], next?: string) => ({
  metadata: { resourceVersion: String(version), ...(next !== undefined && { continue: next }) },
  items: names.map((name) => object(name, version)),
})
const event = (type: string, of: unknown) => `${JSON.stringify({ type, object: of })}\n`

beforeEach(async () => {
  script = await scriptedApi()
  clock = new FakeClock()
  seen = []
  waits = []
  restarts = []
  reflector = new Reflector({
    api: script.api,
    path: PATH,
    clock,
    logger: createLogger({ write: (line) => waits.push(JSON.parse(line).waitMs) }),
    random: () => 0,
    onRestart: (path, reason) => restarts.push(`${path} ${reason}`),
    store: {
      replace: (objects) => seen.push(`all ${objects.map(({ metadata }) => metadata.name).join(' ')}`),
      put: ({ metadata }) => seen.push(`put ${metadata.name}@${metadata.resourceVersion}`),
      remove: ({ metadata }) => seen.push(`remove ${metadata.name}`),
    },
  })
})
afterEach(async () => {
  await reflector.stop()
  for (const watch of watches.splice(0)) watch.destroy()
})

/** Responds to the next request with a watch that sends these events and stays open. */
async function watch(...events: readonly string[]) {
  const { asked, response } = await script.next()
  expect(asked.query.get('watch')).toBe('true')
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write(events.join('') || '\n'.repeat(0))
  response.flushHeaders()
  watches.push(response)
  return { asked, response }
}

async function started(answer: object = list(5, ['a'])) {
  const starting = reflector.start()
  json((await script.next()).response, answer)
  await starting
}

describe('Reflector', () => {
  it('lists in pages, and is started when it has all of them', async () => {
    const starting = reflector.start()
    const first = await script.next()
    expect(Object.fromEntries(first.asked.query)).toEqual({ limit: '500' })
    json(first.response, list(5, ['a', 'b'], 'more'))
    const second = await script.next()
    expect(Object.fromEntries(second.asked.query)).toEqual({ limit: '500', continue: 'more' })
    json(second.response, list(5, ['c']))
    await starting
    expect(seen).toEqual(['all a b c'])
  })

  it('watches from the listed resource version', async () => {
    await started()
    const { asked } = await watch(
      event('ADDED', object('b', 6)),
      event('MODIFIED', object('a', 7)),
      event('DELETED', object('a', 8)),
    )
    expect(Object.fromEntries(asked.query)).toMatchObject({
      resourceVersion: '5',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
    })
    await expect.poll(() => seen).toEqual(['all a', 'put b@6', 'put a@7', 'remove a'])
  })

  it('continues from the last version or bookmark when a watch ends or its connection is lost', async () => {
    await started()
    const first = await watch(event('ADDED', object('b', 6)), event('BOOKMARK', object('', 9)))
    await expect.poll(() => seen.length).toBe(2)
    first.response.end()
    const second = await watch(event('ADDED', object('c', 10)))
    expect(second.asked.query.get('resourceVersion')).toBe('9')
    await expect.poll(() => seen.at(-1)).toBe('put c@10')
    second.response.destroy()
    await clock.advance(1_000)
    expect((await watch()).asked.query.get('resourceVersion')).toBe('10')
    expect(seen).toEqual(['all a', 'put b@6', 'put c@10'])
  })

  it.each([
    [
      'as response',
      (response: ServerResponse) => json(response, { kind: 'Status', reason: 'Expired', code: 410 }, 410),
    ],
    [
      'as watch event',
      (response: ServerResponse) => response.end(event('ERROR', { kind: 'Status', reason: 'Expired', code: 410 })),
    ],
  ])('lists again when its version has expired: 410 %s', async (_, answer) => {
    await started()
    answer((await script.next()).response)
    const requeue = await script.next()
    expect(requeue.asked.query.get('watch')).toBeNull()
    json(requeue.response, list(20, ['b']))
    expect((await watch()).asked.query.get('resourceVersion')).toBe('20')
    expect(seen).toEqual(['all a', 'all b'])
    expect(restarts).toEqual([`${PATH} Expired`])
  })

  it('retries with growing pauses while the server fails', async () => {
    await started()
    for (const waitMs of [200, 400, 800]) {
      json((await script.next()).response, { kind: 'Status', message: 'overloaded' }, 500)
      await expect.poll(() => waits.at(-1)).toBe(waitMs)
      await clock.advance(waitMs)
    }
    await watch(event('ADDED', object('b', 6)))
    await expect.poll(() => seen.at(-1)).toBe('put b@6')
  })

  it('waits only for the shortest pause after each interrupted watch that had delivered events', async () => {
    await started()
    for (const version of [6, 7, 8]) {
      const { response } = await watch(event('ADDED', object('b', version)))
      await expect.poll(() => seen.at(-1)).toBe(`put b@${version}`)
      waits.length = 0
      response.destroy()
      await expect.poll(() => waits).toEqual([200])
      await clock.advance(200)
    }
    await watch()
  })

  it('lists without a pause after an expired version, but pauses when it expires repeatedly', async () => {
    await started()
    for (const waitMs of [200, 400]) {
      json((await script.next()).response, { kind: 'Status', message: 'overloaded' }, 500)
      await expect.poll(() => waits.at(-1)).toBe(waitMs)
      await clock.advance(waitMs)
    }
    const forgotten = async () =>
      json((await script.next()).response, { kind: 'Status', reason: 'Expired', code: 410 }, 410)
    await forgotten()
    json((await script.next()).response, list(20, ['b']))
    await forgotten()
    await expect.poll(() => waits).toEqual([200, 400, 200])
    await clock.advance(200)
    json((await script.next()).response, list(30, ['c']))
    await watch(event('ADDED', object('d', 31)))
    await expect.poll(() => seen).toEqual(['all a', 'all b', 'all c', 'put d@31'])
  })

  it('restarts a watch that was silent for longer than the interval of bookmarks', async () => {
    await started()
    await watch(event('ADDED', object('b', 6)))
    await expect.poll(() => seen.length).toBe(2)
    const next = script.next()
    await clock.advance(100_000)
    expect(reflector.watchState()).toEqual({ path: PATH, silentMs: 100_000 })
    await clock.advance(300_000)
    expect((await next).asked.query.get('resourceVersion')).toBe('6')
  })

  it('is refreshed by a list that begins after the request, also while a watch is silent', async () => {
    await started()
    await watch()
    let isRefreshed = false
    const refreshing = reflector.refresh().then(() => {
      isRefreshed = true
    })
    const first = await script.next()
    expect(first.asked.query.get('watch')).toBeNull()
    const refreshingAgain = reflector.refresh()
    json(first.response, list(7, ['a', 'b']))
    await refreshing
    expect([isRefreshed, seen]).toEqual([true, ['all a', 'all a b']])
    json((await script.next()).response, list(8, ['b']))
    await refreshingAgain
    expect(seen.at(-1)).toBe('all b')
    expect((await watch()).asked.query.get('resourceVersion')).toBe('8')
    expect([waits, restarts]).toEqual([[], []])
  })

  it('is refreshed without a pause while it waits after a failure', async () => {
    await started()
    const failed = await script.next()
    failed.response.writeHead(500).end()
    await expect.poll(() => waits.length).toBe(1)
    const refreshing = reflector.refresh()
    json((await script.next()).response, list(7, ['b']))
    await refreshing
    expect(seen.at(-1)).toBe('all b')
  })

  it('ends its watch and reports nothing after it is stopped', async () => {
    await started()
    const { response } = await watch()
    const stopping = reflector.stop()
    response.write(event('ADDED', object('b', 6)))
    await stopping
    expect(seen).toEqual(['all a'])
  })

  it('discards a list and requests no further page when it is stopped', async () => {
    const starting = reflector.start()
    const { response } = await script.next()
    let stopped = false
    const stopping = reflector.stop().then(() => {
      stopped = true
    })
    expect(stopped).toBe(false)
    json(response, list(5, ['a']))
    await Promise.all([starting, stopping])
    await clock.advance(60_000)
    expect(seen).toEqual([])
    expect(script.asked).toHaveLength(1)
  })

  it('retries after a response that is not a list', async () => {
    const starting = reflector.start()
    ;(await script.next()).response.end('<html>a proxy that is not well</html>')
    await expect.poll(() => waits).toEqual([200])
    await clock.advance(200)
    json((await script.next()).response, list(5, ['a']))
    await starting
    expect(seen).toEqual(['all a'])
  })

  it('rejects the start without the permission to list', async () => {
    const starting = reflector.start()
    json((await script.next()).response, { kind: 'Status', reason: 'Forbidden', message: 'subjects is forbidden' }, 403)
    await expect(starting).rejects.toMatchObject({ status: 403, reason: 'Forbidden', message: 'subjects is forbidden' })
  })
})
