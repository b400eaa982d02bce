import { describe, expect, it } from 'vitest'
import type { Leadership } from '../../src/registry/leadership/leader-election.ts'
import type { LeaderWriter } from '../../src/registry/leadership/leader-writer.ts'
import { WriteQueue } from '../../src/registry/write-queue.ts'
import { startTestRegistry } from '../support/registry.ts'

const MESSAGES = { timedOut: '', notStored: '', notForwarded: '', leaderless: 'there is no leader' }

/** A queue whose state and leader can change at any time. */
function start() {
  const written: number[] = []
  const writerOf = (): LeaderWriter => ({ append: async () => {}, appendKeys: async () => {}, close: async () => {} })
  const state = { revision: 1, writer: writerOf() as LeaderWriter | undefined }
  const leadership: Leadership = {
    writer: () => state.writer,
    leaderUrl: () => undefined,
    problem: () => undefined,
    replaceWriter: () => {},
  }
  const queue = new WriteQueue(leadership, () => state.revision)
  const write = (decide: () => Promise<void>) => {
    const decideNow = async () => {
      const { revision } = state
      await decide()
      return { append: async () => void written.push(revision), respond: () => revision }
    }
    return queue.write(MESSAGES, decideNow)
  }
  return { state, written, write, writerOf }
}

describe('a decision that waits in its turn', () => {
  it('is made again on the records that were applied meanwhile', async () => {
    const { state, written, write } = start()
    let decisions = 0
    const decide = async () => {
      decisions += 1
      if (decisions < 3) state.revision += 1
    }
    expect(await write(decide)).toBe(3)
    expect([decisions, written]).toEqual([3, [3]])
  })

  it.each([
    ['is lost', false],
    ['is replaced', true],
  ])('is rejected if its writer %s meanwhile', async (_, isReplaced) => {
    const { state, written, write, writerOf } = start()
    const decide = async () => {
      state.writer = isReplaced ? writerOf() : undefined
    }
    await expect(write(decide)).rejects.toMatchObject({ code: 'leader_unknown', message: 'there is no leader' })
    expect(written).toEqual([])
  })
})

describe('a decision that takes long', () => {
  it('is made before its turn, so that other writes do not wait, and again after them', async () => {
    const test = await startTestRegistry()
    const compared = Promise.withResolvers<void>()
    const revisions: number[] = []
    const slow = test.registry.write(async ({ view }) => {
      revisions.push(view.revision)
      if (revisions.length === 1) await compared.promise
      return { records: [{ kind: 'mode', subject: null, value: 'READONLY' }], answer: view.mode(null) }
    }, MESSAGES)
    expect(await test.call('PUT', '/mode', { mode: 'READWRITE' })).toMatchObject({ status: 200 })
    compared.resolve()
    expect(await slow).toBe('READWRITE')
    expect(revisions).toEqual([0, 1])
    await test.stop()
  })

  it('does not enter the queue if it is rejected', async () => {
    const test = await startTestRegistry()
    const decide = () => Promise.reject(new Error('too complex'))
    await expect(test.registry.write(decide, MESSAGES)).rejects.toThrow('too complex')
    expect(test.written).toEqual([])
    await test.stop()
  })
})
