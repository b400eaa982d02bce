import { describe, expect, it } from 'vitest'
import { BrokerError } from '../../src/broker/error.ts'
import { startTestRegistry } from '../support/registry.ts'
import { until } from '../support/until.ts'

describe('writes', () => {
  it('wait for one another up to a bound, past which they are refused at once', async () => {
    const held = Promise.withResolvers<void>()
    const test = await startTestRegistry({}, { writeGate: held.promise })
    const write = (value: 'READONLY' | 'READWRITE') =>
      test.registry.write(() => ({ records: [{ kind: 'mode', subject: null, value }], answer: undefined }), MODE)
    const waiting = Array.from({ length: 10_000 }, () => write('READWRITE'))
    await expect(write('READONLY')).rejects.toMatchObject({ code: 'too_many_writes' })
    held.resolve()
    await Promise.all(waiting)
    await write('READONLY')
    expect(test.written).toHaveLength(10_001)
    await test.stop()
  })

  it('give up the pen that failed, because nobody knows what it wrote', async () => {
    const test = await startTestRegistry({}, { writeError: new BrokerError('timeout', 'on purpose') })
    await test.call('PUT', '/mode', { mode: 'READONLY' })
    expect(test.writerReplacements).toEqual(['on purpose'])
    await test.stop()
  })

  it('of a follower are seen by it before they are answered', async () => {
    const leader = await startTestRegistry()
    const seen = Promise.withResolvers<void>()
    let asked = 0
    const refresh = () => {
      asked += 1
      return seen.promise
    }
    const follower = await startTestRegistry({}, { leaderUrl: leader.url, refresh })
    let answered = false
    const answer = follower.call('PUT', '/mode', { mode: 'READONLY' }).then(({ status }) => {
      answered = true
      return status
    })
    await until('the follower to catch up', { everyMs: 5, timeoutMs: 10_000 }, () => asked === 1)
    expect([leader.written.length, answered]).toEqual([1, false])
    seen.resolve()
    expect(await answer).toBe(200)
    // What was refused changed nothing.
    expect(await follower.call('PUT', '/mode', { mode: 'FORWARD' })).toMatchObject({ status: 422 })
    expect(asked).toBe(1)
    await follower.stop()
    await leader.stop()
  })
})

const MODE = { timedOut: '', notStored: '', notForwarded: '', leaderless: '' }
