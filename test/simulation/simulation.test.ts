import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Explanation } from './history.ts'
import { HistoryProcess, type Outcome } from './history-process.ts'

const TABLE = join(import.meta.dirname, 'sample-worlds.ts')
const processes: HistoryProcess[] = []
afterAll(() => Promise.all(processes.map((child) => child.stop())))

function processOf(world: string): HistoryProcess {
  const child = new HistoryProcess({ world, table: TABLE })
  processes.push(child)
  return child
}

const show = (world: string, seed = 1): Promise<Outcome> => processOf(world).show(seed)
const explain = (world: string, seed = 1): Promise<Explanation> => processOf(world).explain(seed)

async function timelineOf(world: string): Promise<readonly string[]> {
  const { entries = [], failure } = await show(world)
  expect(failure).toBeUndefined()
  return entries.map(({ atMs, who, what }) => `${Math.floor(atMs)} ${who}: ${what}`)
}

describe('a simulated process', { tags: ['slow'] }, () => {
  it('has timers and clocks of virtual time', async () => {
    expect(await timelineOf('timers')).toEqual([
      '0 p: immediate',
      '500 p: timeout',
      '1000 p: interval',
      '2000 p: interval',
      '2200 p: abort',
      '2500 p: AbortError',
      '2500 p: 2500 ms by the wall clock, 2500 ms by the other',
      '2500 p: has its clock moved by -60000 ms',
      '2500 p: -57500 ms by the wall clock, 2500 ms by the other',
      '3200 p: refreshed timeout',
      '3500 p: it is 2025-12-31T23:59:03.500Z',
    ])
  })

  it('has combined signals, which keep nothing of it after its history', async () => {
    const child = processOf('signals')
    const shown: string[] = []
    for (const seed of [1, 2, 3]) {
      const { entries = [], failure } = await child.show(seed)
      expect(failure).toBeUndefined()
      shown.push(...entries.map(({ what }) => what))
    }
    expect(shown).toEqual([
      '1 histories are in memory: false false',
      'failed: false true',
      '1 histories are in memory: false false',
      '1 histories are in memory: false false',
    ])
  })

  it('has random numbers of the seed', async () => {
    const [first, same, other] = await Promise.all([show('random', 1), show('random', 1), show('random', 2)])
    expect(first.entries).toEqual(same.entries)
    expect(first.entries).not.toEqual(other.entries)
  })

  it('does nothing behind the await at which it crashes, and its callers see a broken connection', async () => {
    const timeline = await timelineOf('crash')
    expect(timeline.filter((line) => !line.endsWith('tick')).map((line) => line.replace(/^\d+ /, ''))).toEqual([
      'callee: begins first',
      'callee: ends first',
      'caller: first is answered',
      'callee: begins second',
      'caller: crashes',
      // Its request has arrived before.
      'callee: ends second',
      'callee: begins third',
      'callee: crashes',
      'next: the connection broke off',
      'next: connect ECONNREFUSED callee',
    ])
    expect(timeline.filter((line) => line.endsWith('tick'))).toEqual(
      [400, 800, 1_200].map((ms) => `${ms} caller: tick`),
    )
  })

  it('runs its timers late after a pause, except those that it clears then', async () => {
    expect(await timelineOf('pause')).toEqual(['0 p: is frozen for 5000 ms', '5000 p: timeout'])
  })

  it('fails the history with an error that it does not catch', async () => {
    const { failure } = await show('uncaught')
    expect(failure?.kind).toBe('error')
    expect(failure?.message).toMatch(/^Error: nobody catches this\n/)
  })

  it('fails the history when it repeats something without end', async () => {
    const { failure } = await show('endless')
    expect(failure?.message).toMatch(/^Error: more than 200000 events/)
  })
})

describe('the simulated network', { tags: ['slow'] }, () => {
  it('keeps the order of calls on one connection only', async () => {
    expect((await timelineOf('connection')).map((line) => line.replace(/^\d+ /, ''))).toEqual([
      'client: in order',
      'client: in another order',
    ])
  })

  it('executes calls that the client believes to be lost, and some clients are not answered', async () => {
    const timeline = await timelineOf('late')
    const broken = timeline.filter((line) => line.endsWith('the connection broke off'))
    expect(broken.length).toBeGreaterThan(0)
    expect(broken.length).toBeLessThan(10)
    expect(timeline.at(-1)).toBe('30000 server: 10 calls')
  })

  it('delivers neither requests nor responses between partitions', async () => {
    const timeline = await timelineOf('partition')
    const count = (line: string) => timeline.filter((one) => one.endsWith(line)).length
    expect(count('server: before')).toBe(1)
    expect(count('client: before is answered')).toBe(0)
    expect(count('server: during')).toBe(0)
    expect(count('client: during: the connection broke off')).toBeGreaterThan(0)
    expect(count('client: after is answered')).toBe(1)
  })
})

describe('a history', { tags: ['slow'] }, () => {
  it('is the same for the same seed, in the same process and in another one', async () => {
    const [one, other] = [processOf('late'), processOf('late')]
    const first = await one.run(7)
    await one.run(8)
    const second = await one.run(7)
    const third = await other.run(7)
    expect([second.digest, third.digest]).toEqual([first.digest, first.digest])
    expect(first.events).toBeGreaterThan(10)
  })

  it('that fails is shortened to the steps that it needs', async () => {
    const { digests, operations, text } = await explain('steps')
    expect(digests[0]).toBe(digests[1])
    expect(operations).toEqual([])
    expect(text).toBe(
      [
        'steps seed 1, shortened from 40 to 2 steps and 2 events:',
        '  {"atMs":1100,"do":"remove","number":11}',
        '  {"atMs":3000,"do":"add","number":30}',
        '     1.100  p  does 11',
        '     3.000  p  does 30',
        'violation: 11 and 30 are never done both',
      ].join('\n'),
    )
  })

  it('that uses the machine is recognized', async () => {
    expect((await explain('file')).operations).toContain('FSREQPROMISE')
  })
})
