import { randomInt, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import type { SimulatedProcess } from './simulated-process.ts'
import { Simulation } from './simulation.ts'
import { promise, type Step, type World } from './world.ts'

/** Runs code in a process, whose errors are those of the process. */
function start(process: SimulatedProcess, run: () => Promise<void>): void {
  process.run(() => {
    run().catch((error: unknown) => process.fail(error))
  })
}

function world(name: string, run: (simulation: Simulation, steps: readonly Step[]) => Promise<void>): World {
  return { name, plan: () => [], run }
}

/** Small worlds, with which the simulator itself is tested. */
const SAMPLES: readonly World[] = [
  world('timers', async (simulation) => {
    const process = simulation.process('p')
    const note = (what: string) => simulation.note('p', what)
    start(process, async () => {
      const startedMs = Date.now()
      const fromMs = performance.now()
      const interval = setInterval(() => note('interval'), 1_000)
      setTimeout((what: string) => note(what), 500, 'timeout')
      const cleared = setTimeout(() => note('cleared timeout'), 1_500)
      const refreshed = setTimeout(() => note('refreshed timeout'), 2_000)
      setImmediate(() => note('immediate'))
      AbortSignal.timeout(2_200).addEventListener('abort', () => note('abort'))
      await sleep(1_200)
      clearTimeout(cleared)
      refreshed.refresh()
      await sleep(10_000, undefined, { signal: AbortSignal.timeout(1_300) }).catch((error: Error) => note(error.name))
      clearInterval(interval)
      note(`${Date.now() - startedMs} ms by the wall clock, ${performance.now() - fromMs} ms by the other`)
      process.skew(-60_000)
      note(`${Date.now() - startedMs} ms by the wall clock, ${performance.now() - fromMs} ms by the other`)
      await sleep(1_000)
      note(`it is ${new Date().toISOString()}`)
    })
    await simulation.run(60_000)
  }),

  world('signals', async (simulation) => {
    start(simulation.process('p'), async () => {
      const [stopping, failing] = [new AbortController(), new AbortController()]
      const ending = AbortSignal.any([stopping.signal, failing.signal])
      const note = (what: string) =>
        simulation.note('p', `${what}: ${[stopping, failing].map(({ signal }) => signal.aborted).join(' ')}`)
      ending.addEventListener('abort', () => note(String(ending.reason)))
      const histories = queryObjects(Simulation, { format: 'count' })
      note(`${histories} histories are in memory`)
      await sleep(1_000)
      if (simulation.seed === 1) failing.abort('failed')
    })
    await simulation.run(2_000)
  }),

  world('random', async (simulation) => {
    start(simulation.process('p'), async () => {
      simulation.note('p', [Math.random(), randomUUID(), randomInt(1_000), randomInt(5, 7)].join(' '))
    })
    await simulation.run(1)
  }),

  world('crash', async (simulation) => {
    const [caller, callee] = [simulation.process('caller'), simulation.process('callee')]
    const call = (name: string) =>
      simulation.network.call(callee, {
        label: name,
        execute: async () => {
          simulation.note('callee', `begins ${name}`)
          await sleep(1_000)
          simulation.note('callee', `ends ${name}`)
        },
      })
    start(caller, async () => {
      setInterval(() => simulation.note('caller', 'tick'), 400)
      await call('first')
      simulation.note('caller', 'first is answered')
      await call('second')
      simulation.note('caller', 'second is answered')
    })
    await simulation.run(1_500)
    caller.crash()
    await simulation.run(5_000)
    start(caller, async () => {
      // Code of a process that has ended: nothing of it has an effect.
      setTimeout(() => simulation.note('caller', 'timeout after the crash'), 10)
      void simulation.network.call(callee, { execute: async () => simulation.note('callee', 'call after the crash') })
      throw new Error('after the crash')
    })
    await simulation.run(10_000)
    const next = simulation.process('next')
    start(next, () => call('third').catch((error: Error) => simulation.note('next', error.message)))
    await simulation.run(10_500)
    callee.crash()
    await simulation.run(15_000)
    start(next, () => call('fourth').catch((error: Error) => simulation.note('next', error.message)))
    await simulation.run(20_000)
  }),

  world('pause', async (simulation) => {
    const process = simulation.process('p')
    start(process, async () => {
      const late = setTimeout(() => simulation.note('p', 'cleared timeout'), 200)
      setTimeout(() => {
        simulation.note('p', 'timeout')
        clearTimeout(late)
      }, 100)
    })
    process.pause(5_000)
    await simulation.run(10_000)
  }),

  world('connection', async (simulation) => {
    const [client, server] = [simulation.process('client'), simulation.process('server')]
    simulation.network.faults = { requestLost: 0, responseLost: 0, slow: 500, late: 0 }
    const arrived: number[] = []
    const numbers = Array.from({ length: 50 }, (_, number) => number)
    const send = (inOrder: boolean) =>
      start(client, async () => {
        await Promise.all(
          numbers.map((number) =>
            simulation.network.call(server, { inOrder, execute: async () => void arrived.push(number) }),
          ),
        )
        const isInOrder = arrived.splice(0).every((number, at) => number === numbers[at])
        simulation.note('client', isInOrder ? 'in order' : 'in another order')
      })
    send(true)
    await simulation.run(30_000)
    send(false)
    await simulation.run(60_000)
  }),

  world('late', async (simulation) => {
    const [client, server] = [simulation.process('client'), simulation.process('server')]
    simulation.network.faults = { requestLost: 1_000, responseLost: 0, slow: 0, late: 1_000 }
    const called = new Set<number>()
    for (let number = 0; number < 10; number += 1)
      start(client, async () => {
        await simulation.network
          .call(server, { execute: async () => void called.add(number) })
          .catch((error: Error) => simulation.note('client', error.message))
      })
    await simulation.run(30_000)
    simulation.note('server', `${called.size} calls`)
  }),

  world('partition', async (simulation) => {
    const [client, server] = [simulation.process('client'), simulation.process('server')]
    const call = (name: string) =>
      start(client, async () => {
        const answer = simulation.network.call(server, {
          execute: async () => {
            simulation.note('server', name)
            await sleep(1_000)
          },
        })
        await answer.then(
          () => simulation.note('client', `${name} is answered`),
          (error: Error) => simulation.note('client', `${name}: ${error.message}`),
        )
      })
    call('before')
    await simulation.run(500)
    simulation.network.cut('server', 'client')
    for (let at = 0; at < 10; at += 1) call('during')
    await simulation.run(5_000)
    simulation.network.heal()
    call('after')
    await simulation.run(10_000)
  }),

  world('uncaught', async (simulation) => {
    simulation.process('p').run(() => {
      setTimeout(() => void Promise.reject(new Error('nobody catches this')), 100)
    })
    await simulation.run(1_000)
  }),

  world('endless', async (simulation) => {
    simulation.process('p').run(() => {
      const repeat = () => setImmediate(repeat)
      repeat()
    })
    await simulation.run(1_000)
  }),

  world('file', async (simulation) => {
    start(simulation.process('p'), async () => {
      await readFile(import.meta.filename)
    })
    await simulation.run(1_000)
  }),

  {
    name: 'steps',
    plan: (random) =>
      Array.from({ length: 40 }, (_, number) => ({ atMs: number * 100, do: random.one(['add', 'remove']), number })),
    async run(simulation, steps) {
      const process = simulation.process('p')
      const done = new Set<unknown>()
      for (const { atMs, number } of steps)
        process.run(() => {
          setTimeout(() => {
            simulation.note('p', `does ${number}`)
            done.add(number)
          }, atMs)
        })
      await simulation.run(10_000, () => {
        promise(!(done.has(11) && done.has(30)), () => '11 and 30 are never done both')
        return false
      })
    },
  },
]

export const WORLDS: Readonly<Record<string, () => Promise<World>>> = Object.fromEntries(
  SAMPLES.map((sample) => [sample.name, () => Promise.resolve(sample)]),
)
