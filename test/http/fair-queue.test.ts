import { describe, expect, it } from 'vitest'
import { FairQueue } from '../../src/http/fair-queue.ts'

/** Jobs that end when the test ends them. */
function jobs(queue: FairQueue) {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const add = (address: string, name: string) =>
    queue.run(address, async () => {
      started.push(name)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      return name
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  return { started, add, end }
}

describe('fair queue', () => {
  it('limits concurrent jobs and serves addresses in turn', async () => {
    const { started, add, end } = jobs(new FairQueue(1))
    for (const name of ['a1', 'a2', 'a3']) void add('a', name)
    void add('b', 'b1')
    await new Promise(setImmediate)
    expect(started).toEqual(['a1'])
    for (const name of ['a1', 'a2', 'b1', 'a3']) await end(name)
    expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
    void add('c', 'c1')
    expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'c1'])
  })

  it('rejects jobs of an address with too many waiting jobs, without an effect on other addresses', async () => {
    const { started, add, end } = jobs(new FairQueue(1))
    for (let i = 0; i <= 32; i++) void add('a', `a${i}`)
    expect(await add('a', 'one too many')).toBeUndefined()
    const other = add('b', 'b1')
    await end('a0')
    await end('a1')
    await end('b1')
    expect(await other).toBe('b1')
    expect(started).not.toContain('one too many')
  })

  it('frees the slot of a job that failed', async () => {
    const queue = new FairQueue(1)
    await expect(queue.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await queue.run('a', async () => 'yes')).toBe('yes')
  })
})
