import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WorkQueue } from '../../../src/operator/controller/work-queue.ts'
import { FakeClock } from '../../support/fake-clock.ts'

function createQueue() {
  const clock = new FakeClock()
  return { clock, queue: new WorkQueue<string>({ clock, random: () => 0 }) }
}

/** A key belongs to the flow that is named before its slash. */
function createFlowQueue(flowConcurrency: number) {
  const flowOf = (key: string) => key.split('/')[0] ?? ''
  return new WorkQueue<string>({ clock: new FakeClock(), flowOf, flowConcurrency })
}

/** The key that an idle worker receives now; undefined if it would wait. */
async function takeNow(queue: WorkQueue<string>): Promise<string | undefined> {
  return queue.length > 0 ? queue.get() : undefined
}

async function takeAll(queue: WorkQueue<string>): Promise<readonly string[]> {
  const taken: string[] = []
  for (let key = await takeNow(queue); key !== undefined; key = await takeNow(queue)) taken.push(key)
  return taken
}

describe('WorkQueue', () => {
  it('contains a key once, however often it is added', async () => {
    const { queue } = createQueue()
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key)
    expect([await takeNow(queue), await takeNow(queue), await takeNow(queue)]).toEqual(['a', 'b', undefined])
  })

  it('returns a key that was added during its processing again after done', async () => {
    const { queue } = createQueue()
    queue.add('a')
    await queue.get()
    queue.add('a')
    expect(queue.length).toBe(0)
    queue.done('a')
    expect(await takeNow(queue)).toBe('a')
  })

  it('returns an added key to a waiting get', async () => {
    const { queue } = createQueue()
    const taken = queue.get()
    queue.add('a')
    expect(await taken).toBe('a')
  })

  it('returns keys with priority user before routine keys', async () => {
    const { queue } = createQueue()
    queue.add('old', 'routine')
    queue.add('new', 'user')
    expect(await takeNow(queue)).toBe('new')
  })

  it('raises the priority of a waiting routine key that is added as user', async () => {
    const { queue } = createQueue()
    for (const key of ['a', 'b']) queue.add(key, 'routine')
    queue.add('b', 'user')
    expect([await takeNow(queue), await takeNow(queue), await takeNow(queue)]).toEqual(['b', 'a', undefined])
  })

  it('returns routine keys although user keys are added continuously', async () => {
    const { queue } = createQueue()
    queue.add('routine', 'routine')
    for (let given = 0; given < 10; given++) {
      queue.add(`change ${given}`)
      const key = await queue.get()
      if (key === 'routine') return
      queue.done(key!)
    }
    expect.unreachable('the routine key starved')
  })

  it('adds a delayed key at the earliest of its due times', async () => {
    const { clock, queue } = createQueue()
    queue.addAfter('a', 5_000)
    queue.addAfter('a', 1_000)
    queue.addAfter('b', 2_000)
    await clock.advance(999)
    expect(queue.length).toBe(0)
    await clock.advance(50)
    expect(await takeNow(queue)).toBe('a')
    await clock.advance(1_000)
    expect(await takeNow(queue)).toBe('b')
  })

  it('doubles the backoff of a key up to five minutes, until forget', async () => {
    const { queue } = createQueue()
    const delays = Array.from({ length: 12 }, () => queue.addRateLimited('a'))
    expect(delays.slice(0, 4)).toEqual([500, 1_000, 2_000, 4_000])
    expect(delays.at(-1)).toBe(300_000)
    expect(queue.addRateLimited('b')).toBe(500)
    queue.forget('a')
    expect(queue.addRateLimited('a')).toBe(500)
  })

  it('returns an added key without waiting for its backoff', async () => {
    const { queue } = createQueue()
    queue.addRateLimited('a')
    queue.add('a')
    expect(await takeNow(queue)).toBe('a')
    queue.done('a')
    expect(queue.isIdle(60_000)).toBe(true)
  })

  it('returns keys of other flows while one flow has reached its concurrency', async () => {
    const queue = createFlowQueue(2)
    for (const key of ['slow/1', 'slow/2', 'slow/3', 'slow/4', 'fast/1']) queue.add(key)
    expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['slow/1', 'fast/1', 'slow/2'])
    const next = queue.get()
    queue.add('fast/2')
    expect(await next).toBe('fast/2')
    expect(queue.length).toBe(2)
    const freed = queue.get()
    queue.done('slow/1')
    expect(await freed).toBe('slow/3')
  })

  it('alternates between flows, however many keys wait in each', async () => {
    const queue = createFlowQueue(10)
    for (const key of ['a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/1']) queue.add(key)
    expect(await takeAll(queue)).toEqual(['a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'a/3'])
  })

  it('moves a waiting key to another flow when its flow has changed', async () => {
    const flows = new Map([['key', 'full']])
    const queue = new WorkQueue<string>({
      clock: new FakeClock(),
      flowOf: (key) => flows.get(key) ?? 'full',
      flowConcurrency: 1,
    })
    queue.add('first')
    await queue.get()
    queue.add('key')
    const taken = queue.get()
    flows.set('key', 'free')
    queue.add('key', 'routine')
    expect(await taken).toBe('key')
  })

  it('resolves every waiting get with undefined when it is shut down', async () => {
    const { queue } = createQueue()
    const taken = [queue.get(), queue.get()]
    queue.shutDown()
    queue.add('a')
    expect(await Promise.all(taken)).toEqual([undefined, undefined])
    expect(await queue.get()).toBeUndefined()
  })

  it('never processes a key twice at the same time, and loses none', async () => {
    const action = fc.record({ key: fc.constantFrom('a', 'b', 'c'), done: fc.boolean(), urgent: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        const { queue } = createQueue()
        const working = new Set<string>()
        const owed = new Set<string>()
        for (const step of actions) await act(queue, step, working, owed)
        for (const key of working) queue.done(key)
        expect(new Set(await takeAll(queue))).toEqual(owed)
      }),
    )
  })
})

type Action = { readonly key: string; readonly done: boolean; readonly urgent: boolean }

/** Adds a key and takes one if possible; `owed` are the keys that were added and not yet taken. */
async function act(
  queue: Parameters<typeof takeNow>[0],
  { key, done, urgent }: Action,
  working: Set<string>,
  owed: Set<string>,
): Promise<void> {
  queue.add(key, urgent ? 'user' : 'routine')
  owed.add(key)
  const taken = await takeNow(queue)
  if (taken !== undefined) {
    expect(working.has(taken)).toBe(false)
    working.add(taken)
    owed.delete(taken)
  }
  if (done && working.delete(key)) queue.done(key)
}
