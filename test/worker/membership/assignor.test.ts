import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AssignorState, assignWork } from '../../../src/worker/membership/assignor.ts'
import { type ConnectorsAndTasks, NO_WORK } from '../../../src/worker/membership/connect-protocol.ts'
import { taskKey } from '../../../src/worker/model/task-key.ts'

const DELAY_MS = 300_000

describe('the assignor', () => {
  it('assigns all work to a single worker', () => {
    const group = new Group({ c: 3 })
    group.join('a')
    group.settle()
    expect(group.loads()).toEqual({ a: [1, 3] })
  })

  it('moves only the share of a joining worker, and revokes that work before it assigns it', () => {
    const group = new Group({ c: 8 })
    group.join('a')
    group.settle()
    group.join('b')
    const first = group.round()
    expect(first.get('a')?.revoked.tasks).toHaveLength(4)
    expect(first.get('b')?.assigned.tasks).toHaveLength(0)
    group.settle()
    expect(group.loads()).toEqual({ a: [1, 4], b: [0, 4] })
    expect(group.moves).toBe(4)
  })

  it('keeps the work of a lost worker unassigned for the delay, and reassigns it afterwards', () => {
    const group = new Group({ c: 4 })
    for (const id of ['a', 'b']) group.join(id)
    group.settle()
    const others = group.work('a')
    group.lose('b')
    group.settle()
    expect(group.work('a')).toEqual(others)
    expect(group.delayMs).toBe(DELAY_MS)
    group.pass(DELAY_MS - 1)
    group.settle()
    expect(group.delayMs).toBe(1)
    group.pass(1)
    group.settle()
    expect(group.loads()).toEqual({ a: [1, 4] })
  })

  it('assigns the work of a lost worker at once to a worker that replaces it', () => {
    const group = new Group({ c: 6 })
    for (const id of ['a', 'b', 'c']) group.join(id)
    group.settle()
    const untouched = group.work('a')
    const lost = group.work('b')
    group.lose('b')
    group.settle()
    group.join('b2')
    group.settle()
    expect(group.delayMs).toBe(0)
    expect(group.work('a')).toEqual(untouched)
    expect(group.work('b2')).toEqual(lost)
  })

  it('assigns new work during the delay without balancing', () => {
    const group = new Group({ c: 4 })
    for (const id of ['a', 'b']) group.join(id)
    group.settle()
    group.lose('b')
    group.settle()
    group.configure({ c: 4, new: 2 })
    group.settle()
    expect(group.loads()).toEqual({ a: [2, 4] })
  })

  it('applies no delay when another worker led the previous rebalance, because its own state is outdated', () => {
    const group = new Group({ c: 4 })
    for (const id of ['a', 'b']) group.join(id)
    group.settle()
    group.lose('b')
    group.letAnotherLead()
    group.settle()
    expect(group.loads()).toEqual({ a: [1, 4] })
  })

  it('revokes work that two workers claim, and work that is no longer configured', () => {
    const group = new Group({ c: 1, d: 1 })
    const [c, d, gone] = ['c', 'd', 'gone'].map((connector) => ({ connector, task: 0 })) as [TaskOf, TaskOf, TaskOf]
    group.join('a', { connectors: ['c'], tasks: [c, gone] })
    group.join('b', { connectors: ['d'], tasks: [c, d] })
    const shares = group.round()
    expect(shares.get('a')?.revoked).toEqual({ connectors: [], tasks: [c, gone] })
    expect(shares.get('b')?.revoked).toEqual({ connectors: [], tasks: [c] })
    group.settle()
    expect(group.loads()).toEqual({ a: [1, 1], b: [1, 1] })
  })

  it('assigns all work exactly once and balanced after any sequence of events, with the fewest moves', () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 25 }), (happenings) => {
        const group = new Group({ c0: 3 })
        group.join('w0')
        group.settle()
        for (const [index, happen] of happenings.entries()) {
          happen(group, index)
          group.checkOnce()
        }
        group.settle()
        group.pass(DELAY_MS)
        group.settle()
        group.checkComplete()
        // Balanced now: another round changes nothing.
        const before = group.loads()
        const { moves } = group
        group.settle()
        expect(group.loads()).toEqual(before)
        expect(group.moves).toBe(moves)
      }),
    )
  })

  it('moves exactly the share of a joining worker, for any number of workers and tasks', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 120 }), (workers, tasks) => {
        const group = new Group({ c: tasks })
        for (let at = 0; at < workers; at++) group.join(`w${at}`)
        group.settle()
        const { moves } = group
        group.join('late')
        group.settle()
        const [, got] = group.loads()['late'] ?? [0, 0]
        expect(group.moves - moves).toBe(got)
        expect(got).toBeGreaterThanOrEqual(Math.floor(tasks / (workers + 1)))
      }),
    )
  })
})

type TaskOf = ConnectorsAndTasks['tasks'][number]

const happening: fc.Arbitrary<(group: Group, index: number) => void> = fc.oneof(
  fc.constant((group: Group, index: number) => group.join(`j${index}`)),
  fc.nat().map((at) => (group: Group) => group.loseAny(at)),
  fc.constant((group: Group) => group.letAnotherLead()),
  fc.constant((group: Group) => group.settle()),
  fc.constant((group: Group) => void group.round()),
  fc.integer({ min: 1, max: 2 * DELAY_MS }).map((ms) => (group: Group) => group.pass(ms)),
  fc
    .dictionary(fc.constantFrom('c0', 'c1', 'c2'), fc.integer({ min: 0, max: 9 }))
    .map((connectors) => (group: Group) => group.configure(connectors)),
)

/** Workers that do in each round what they are told, on a clock of their own. */
class Group {
  readonly #workers = new Map<string, ConnectorsAndTasks>()
  #configured: ConnectorsAndTasks = NO_WORK
  #memory: AssignorState | undefined
  #generation = 0
  #nowMs = 1
  delayMs = 0
  /** Tasks that were taken from a worker while they were still wanted. */
  moves = 0

  constructor(connectors: Readonly<Record<string, number>>) {
    this.configure(connectors)
  }

  configure(connectors: Readonly<Record<string, number>>): void {
    this.#configured = {
      connectors: Object.keys(connectors),
      tasks: Object.entries(connectors).flatMap(([connector, count]) =>
        Array.from({ length: count }, (_, task) => ({ connector, task })),
      ),
    }
  }

  join(id: string, work: ConnectorsAndTasks = NO_WORK): void {
    this.#workers.set(id, work)
  }

  lose(id: string): void {
    this.#workers.delete(id)
  }

  loseAny(at: number): void {
    const ids = [...this.#workers.keys()]
    if (ids.length > 1) this.lose(ids[at % ids.length] as string)
  }

  /** For one round. */
  letAnotherLead(): void {
    this.#generation += 1
  }

  pass(ms: number): void {
    this.#nowMs += ms
  }

  round() {
    this.#generation += 1
    const {
      changes: shares,
      delayMs,
      state: memory,
    } = assignWork(
      {
        generation: this.#generation,
        configured: this.#configured,
        workers: [...this.#workers].map(([memberId, work]) => ({ memberId, metadata: metadataOf(work) })),
        nowMs: this.#nowMs,
        delayMsMax: DELAY_MS,
      },
      this.#memory,
    )
    const wanted = new Set(this.#configured.tasks.map(taskKey))
    for (const [id, { assigned, revoked }] of shares) {
      const { connectors, tasks } = this.work(id)
      const goneTasks = new Set(revoked.tasks.map(taskKey))
      this.moves += revoked.tasks.filter((task) => wanted.has(taskKey(task))).length
      this.#workers.set(id, {
        connectors: [...connectors.filter((name) => !revoked.connectors.includes(name)), ...assigned.connectors],
        tasks: [...tasks.filter((task) => !goneTasks.has(taskKey(task))), ...assigned.tasks],
      })
    }
    this.#memory = memory
    this.delayMs = delayMs
    return shares
  }

  /** Rounds until nobody gives anything up. */
  settle(): void {
    for (let rounds = 0; ; rounds++) {
      if (rounds > 5) throw new Error('the group does not settle')
      const shares = [...this.round().values()]
      if (shares.every(({ revoked }) => revoked.connectors.length + revoked.tasks.length === 0)) return
    }
  }

  work(id: string): ConnectorsAndTasks {
    return this.#workers.get(id) ?? NO_WORK
  }

  loads(): Record<string, [connectors: number, tasks: number]> {
    return Object.fromEntries(
      [...this.#workers].map(([id, { connectors, tasks }]) => [id, [connectors.length, tasks.length]]),
    )
  }

  checkOnce(): void {
    const all = [...this.#workers.values()].flatMap(({ tasks }) => tasks.map(taskKey))
    expect(new Set(all).size).toBe(all.length)
  }

  checkComplete(): void {
    const works = [...this.#workers.values()]
    const sorted = (keys: readonly string[]) => [...keys].sort()
    expect(sorted(works.flatMap(({ tasks }) => tasks.map(taskKey)))).toEqual(
      sorted(this.#configured.tasks.map(taskKey)),
    )
    expect(sorted(works.flatMap(({ connectors }) => connectors))).toEqual(sorted(this.#configured.connectors))
    for (const counts of [works.map(({ tasks }) => tasks.length), works.map(({ connectors }) => connectors.length)]) {
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    }
  }
}

function metadataOf(work: ConnectorsAndTasks) {
  const assignment = {
    error: 0,
    leaderId: '',
    leaderUrl: '',
    configOffset: 0,
    assigned: work,
    revoked: NO_WORK,
    delayMs: 0,
  }
  return { url: '', configOffset: 0, assignment }
}
