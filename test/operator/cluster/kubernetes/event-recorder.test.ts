import { beforeEach, describe, expect, it } from 'vitest'
import { createLogger, silentLogger } from '../../../../src/common/logging/logger.ts'
import { API_VERSION } from '../../../../src/common/resource-api.ts'
import { EventRecorder } from '../../../../src/operator/cluster/kubernetes/event-recorder.ts'
import { FakeClock } from '../../../support/fake-clock.ts'
import { json, type ScriptedApi, scriptedApi } from '../../../support/scripted-api.ts'

const EVENTS = '/apis/events.k8s.io/v1/namespaces/shop/events'
const orders = { kind: 'Connector', namespace: 'shop', name: 'orders', uid: 'u-1' }
const failed = { type: 'Warning', reason: 'AutoRestarted', note: 'task 0 failed' } as const

let script: ScriptedApi
let clock: FakeClock
let recorder: EventRecorder

beforeEach(async () => {
  script = await scriptedApi()
  clock = new FakeClock(Date.UTC(2026, 0, 1))
  recorder = new EventRecorder({ api: script.api, clock, logger: silentLogger(), identity: 'pod-7' })
})

/** Responds to the next request and returns that request. */
async function answered(status = 201) {
  const { asked, response } = await script.next()
  json(response, status < 300 ? {} : { kind: 'Status', message: 'no' }, status)
  return asked
}

type Told = {
  readonly note: string
  readonly metadata: { readonly name: string }
  readonly series: { readonly count: number }
}

describe('EventRecorder', () => {
  it('creates an Event with the object, the reason and the reporting process', async () => {
    recorder.record(orders, failed)
    const { method, path, body } = await answered()
    expect([method, path]).toEqual(['POST', EVENTS])
    expect(body).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      eventTime: '2026-01-01T00:00:00.000000Z',
      regarding: { apiVersion: API_VERSION, ...orders },
      reason: 'AutoRestarted',
      action: 'Reconcile',
      note: 'task 0 failed',
      type: 'Warning',
      reportingController: 'weir.dev/operator',
      reportingInstance: 'pod-7',
    })
  })

  it('logs a missing permission as a warning, once every ten minutes', async () => {
    const warnings: string[] = []
    const logger = createLogger({ level: 'warn', write: (line) => warnings.push(JSON.parse(line).msg) })
    recorder = new EventRecorder({ api: script.api, clock, logger, identity: 'pod-7' })
    for (const note of ['first', 'second']) recorder.record(orders, { ...failed, note })
    await answered(403)
    await answered(403)
    await recorder.stop()
    expect(warnings).toEqual([expect.stringContaining('grant create and patch on events of events.k8s.io')])
  })

  it('increments `series.count` of an identical Event within ten minutes', async () => {
    recorder.record(orders, failed)
    const first = (await answered()).body as Told
    await clock.advance(599_000)
    recorder.record(orders, failed)
    const { method, path, body } = await answered(200)
    expect([method, path]).toEqual(['PATCH', `${EVENTS}/${first.metadata.name}`])
    expect(body).toEqual({ series: { count: 2, lastObservedTime: '2026-01-01T00:09:59.000000Z' } })
    await clock.advance(600_000)
    recorder.record(orders, failed)
    const later = await answered()
    expect(later.method).toBe('POST')
    expect((later.body as Told).metadata.name).not.toBe(first.metadata.name)
  })

  it('creates separate Events for other notes and for other objects', async () => {
    for (const [regarding, note] of [
      [orders, 'one'],
      [orders, 'two'],
      [{ ...orders, uid: 'u-2' }, 'two'],
    ] as const) {
      recorder.record(regarding, { ...failed, note })
      expect((await answered()).method).toBe('POST')
    }
  })

  it('limits each object to a burst of 25 Events, and one more every five minutes', async () => {
    for (let at = 0; at < 30; at++) recorder.record(orders, { ...failed, note: String(at) })
    for (let at = 0; at < 25; at++) await answered()
    recorder.record({ ...orders, uid: 'u-2' }, failed)
    await answered()
    await clock.advance(300_000)
    for (const note of ['refilled', 'too many']) recorder.record(orders, { ...failed, note })
    expect(((await answered()).body as Told).note).toBe('refilled')
    await recorder.stop()
    expect(script.asked).toHaveLength(27)
  })

  it('applies the limit when the clock is set back', async () => {
    for (let at = 0; at < 25; at++) recorder.record(orders, { ...failed, note: `task ${at} failed` })
    for (let at = 0; at < 25; at++) await answered()
    clock.jump(-86_400_000)
    recorder.record(orders, { ...failed, note: 'task 25 failed' })
    const other = { ...orders, uid: 'u-2' }
    recorder.record(other, { ...failed, note: 'of another' })
    expect((await answered()).body).toMatchObject({ note: 'of another' })
  })

  it('truncates a note to 1,024 bytes at a character boundary', async () => {
    recorder.record(orders, { ...failed, note: `a${'é'.repeat(2_000)}` })
    const { note } = (await answered()).body as Told
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024)
    expect(note).toMatch(/^aé{500,}…$/)
  })

  it('creates a valid Event name for an object with the longest name', async () => {
    const name = `${'a'.repeat(199)}.${'b'.repeat(53)}`
    recorder.record({ ...orders, name }, failed)
    const { metadata } = (await answered()).body as Told
    expect(metadata.name).toMatch(/^[a-z0-9]+(\.[a-z0-9]+)*$/)
    expect(metadata.name.length).toBeLessThanOrEqual(253)
  })

  it('continues when an Event is rejected, or the first one of a series no longer exists', async () => {
    recorder.record(orders, failed)
    await answered(403)
    recorder.record(orders, failed)
    await answered(404)
    await expect(recorder.stop()).resolves.toBeUndefined()
  })

  it('sends the waiting Events before it stops', async () => {
    recorder.record(orders, failed)
    let stopped = false
    const stopping = recorder.stop().then(() => {
      stopped = true
    })
    const { response } = await script.next()
    expect(stopped).toBe(false)
    json(response, {}, 201)
    await stopping
  })

  it('drops the waiting Events five seconds after it is stopped', async () => {
    const asked: (() => void)[] = []
    const send = <T>() => new Promise<T>((resolve) => asked.push(() => resolve(undefined as T)))
    const busy = new EventRecorder({ api: { send }, clock, logger: silentLogger(), identity: 'pod-7' })
    for (let at = 0; at < 10; at++) busy.record({ ...orders, uid: `u-${at}` }, failed)
    const stopping = busy.stop()
    await clock.advance(5_000)
    await stopping
    for (const answer of asked) answer()
    await new Promise(setImmediate)
    expect(asked).toHaveLength(4)
  })

  it('sends four Events at a time, and drops those above 20,000 waiting ones', { tags: ['slow'] }, async () => {
    const answered = Promise.withResolvers<void>()
    let sent = 0
    const send = async <T>() => {
      sent += 1
      await answered.promise
      return undefined as T
    }
    const busy = new EventRecorder({ api: { send }, clock, logger: silentLogger(), identity: 'pod-7' })
    for (let at = 0; at < 20_100; at++) busy.record({ ...orders, uid: `u-${at}` }, failed)
    expect(sent).toBe(4)
    answered.resolve()
    await busy.stop()
    expect(sent).toBe(20_004)
  })

  it('delays many Events while resources are written, but warnings only for one delay', async () => {
    const sent: string[] = []
    const send = async <T>({ body }: { readonly body?: unknown }) => {
      sent.push((body as Told).note)
      return undefined as T
    }
    let isWriting = true
    const options = { api: { send }, clock, logger: silentLogger(), identity: 'pod-7', isWriting: () => isWriting }
    const yielding = new EventRecorder(options)
    const created = { type: 'Normal', reason: 'Created' } as const
    for (let at = 0; at < 100; at++) yielding.record({ ...orders, uid: `u-${at}` }, { ...created, note: `${at}` })
    await clock.advance(0)
    expect(sent).toHaveLength(20)
    yielding.record(orders, failed)
    await clock.advance(500)
    expect(sent).toHaveLength(25)
    expect(sent).toContain(failed.note)
    isWriting = false
    await clock.advance(500)
    await expect.poll(() => sent.length).toBe(101)
  })

  it('delays no Event by more than two minutes', async () => {
    let sent = 0
    const send = async <T>() => {
      sent += 1
      return undefined as T
    }
    const options = { api: { send }, clock, logger: silentLogger(), identity: 'pod-7', isWriting: () => true }
    const yielding = new EventRecorder(options)
    const created = { type: 'Normal', reason: 'Created', note: 'created' } as const
    for (let at = 0; at < 2_000; at++) yielding.record({ ...orders, uid: `u-${at}` }, created)
    await clock.advance(119_000)
    expect(sent).toBeLessThan(1_000)
    await clock.advance(1_500)
    await expect.poll(() => sent).toBe(2_000)
  })
})
