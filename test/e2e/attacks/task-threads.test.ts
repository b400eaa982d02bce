import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WorkerClient } from '../../../src/clients/worker-client.ts'
import { describeOn, real } from '../../env/real.ts'
import { partDirectory } from '../../env/workspace.ts'
import { isGone, residentMbOf, taskProcessesOf } from '../../support/process-tree.ts'
import { expectServiceDuring } from '../../support/service-during.ts'
import { until } from '../../support/until.ts'
import { clientOf, polledOn, WAIT, WorkerGroup } from '../../support/worker-group.ts'
import { startWorkerProcess, type WeirWorker } from '../../support/worker-process.ts'

const PLUGINS = join(import.meta.dirname, 'hostile-plugins.ts')
const MEMORY_MB = 128
/** How long each attack goes on that does not fail by itself. */
const ATTACK_MS = Number(process.env['WEIR_ATTACK_MS'] ?? 3_000)
const STOP_MS = 1_000
const BLOCKED_MS = 4_000
/** Of the signal: what tasks may take, what the parts of the worker may, and a machine that is busy. */
const GRACE_MS = 25_000

const SETTINGS = {
  'plugin.path': PLUGINS,
  'worker.threads': '1',
  // A busy machine takes its time.
  'worker.plugin.load.timeout.ms': '60000',
  'worker.thread.blocked.max.ms': String(BLOCKED_MS),
  'worker.thread.memory.mb': String(MEMORY_MB),
  'task.shutdown.graceful.timeout.ms': String(STOP_MS),
  'offset.flush.interval.ms': '1000',
  'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
}

type Scene = {
  end(): Promise<void>
  readonly worker: WeirWorker
  readonly client: WorkerClient
  readonly fifo: string
}

describe('a hostile task', { timeout: 300_000 }, () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await setUp()
  })
  afterAll(() => scene.end())

  it.each([
    ['its log', 'LogFlood'],
    ['the console, standard output and warnings', 'ConsoleFlood'],
    ['long lines', 'LongLines'],
  ])('that floods %s does not delay others, and dropped lines are counted', async (_, name) => {
    const { worker } = scene
    const beganBytes = statSync(worker.logFile).size
    await attack(scene, name, async () => {
      await untilState(scene, name, 'RUNNING')
      await sleep(ATTACK_MS)
      await until('the count of dropped lines', WAIT, () =>
        logOf(worker).includes(`"connector":"${name}","task":0,"lines":`),
      )
    })
    // A burst of ten seconds of 64 KiB/s for each of the levels that are used here, and the rate since.
    expect(statSync(worker.logFile).size - beganBytes).toBeLessThan(4 * 1024 * 1024)
    const lines = logOf(worker).split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(64 * 1024)
  })

  const ofMemory = `exceeded the memory limit .* ${MEMORY_MB} MB \\(worker.thread.memory.mb\\)`
  it.each([
    ['buffers', 'Buffers', ofMemory],
    ['shared memory', 'SharedBuffers', ofMemory],
    ["WebAssembly's memory", 'WebAssemblyMemory', ofMemory],
    // On a busy machine it takes longer to fill the heap than a thread may be blocked.
    ['the heap, in a loop that cannot be interrupted', 'Heap', `${ofMemory}|blocked its thread`],
  ])(
    'that exhausts %s fails with the name of the limit; memory is bounded and the other tasks continue',
    async (_, name, reason) => {
      const residentMb = residentMbOf(scene.worker.pid!)
      let mostMb = 0
      await attack(scene, name, async () => {
        await until('it to fail', { ...WAIT, everyMs: 20 }, async () => {
          mostMb = Math.max(mostMb, residentMbOf(scene.worker.pid!))
          return (await stateOf(scene, name)) === 'FAILED'
        })
        expect(await traceOf(scene, name)).toMatch(new RegExp(`^task ${name}-0 (${reason})`))
      })
      // The limit and what is taken between two measurements, and processes of other tasks meanwhile.
      expect(mostMb - residentMb).toBeLessThan(5 * MEMORY_MB)
    },
  )

  it.each([
    ['process.exit', 'Exit', 'ended its process with exit code 3'],
    ['process.abort', 'Abort', 'ended its process by SIGABRT'],
  ])('that calls %s fails immediately and alone, with the place in its trace', async (_, name, end) => {
    const moves = movesIn(scene)
    await attack(scene, name, async () => {
      await untilState(scene, name, 'FAILED')
      const trace = await traceOf(scene, name)
      expect(trace).toContain(`task ${name}-0 ${end}`)
      expect(trace).toContain('hostile-plugins.ts')
    })
    expect(movesIn(scene)).toBe(moves)
  })

  it.each([
    ['Array.prototype.map', 'ArrayMap'],
    ['Promise', 'NoPromise'],
    ['Object.prototype.then', 'ThenOfAllObjects'],
  ])('that replaces %s harms no other connector, and later tasks start', async (_, name) => {
    const moves = movesIn(scene)
    await attack(scene, name, async () => {
      await untilMisbehaving(scene, name)
      await create(scene, `after-${name}`, 'Steady')
      await untilState(scene, `after-${name}`, 'RUNNING')
    })
    await scene.client.delete(`after-${name}`)
    expect(movesIn(scene)).toBe(moves)
  })

  it.each([
    ['in a loop that cannot be interrupted', 'Loop'],
    ['in native code', 'Native'],
    ['reading a pipe that nobody writes', 'Fifo'],
  ])('that is blocked %s fails with its name, and the other tasks continue', async (_, name) => {
    await attack(scene, name, async () => {
      await untilState(scene, name, 'FAILED')
      expect(await traceOf(scene, name)).toMatch(
        new RegExp(`^task ${name}-0 blocked its thread for more than ${BLOCKED_MS} ms`),
      )
    })
  })
})

it('a hostile task that does not stop after its deletion ends with its process', async () => {
  const scene = await setUp()
  try {
    const others = taskProcessesOf(scene.worker.pid!)
    await attack(scene, 'NeverStops', async () => {
      await untilMisbehaving(scene, 'NeverStops')
      await scene.client.delete('NeverStops')
      await until('its process to end', WAIT, () =>
        taskProcessesOf(scene.worker.pid!).every((pid) => others.includes(pid)),
      )
    })
    expect(movesIn(scene)).toBe(0)
  } finally {
    await scene.end()
  }
})

it.each(['Loop', 'Native', 'NeverStops'])(
  'a hostile task does not prevent the stop of its worker: %s',
  async (name) => {
    const scene = await setUp()
    try {
      await create(scene, name, name)
      await untilMisbehaving(scene, name)
      const threads = taskProcessesOf(scene.worker.pid!)
      expect(await scene.worker.terminate(GRACE_MS)).toBe(0)
      await until('its threads to end', WAIT, () => threads.every(isGone))
    } finally {
      await scene.end()
    }
  },
)

const kafka = await real('kafka')

describeOn([kafka], 'a worker of a group', () => {
  it('stays in its group while one task floods its log and another exhausts memory', async () => {
    const group = new WorkerGroup(kafka.address.bootstrap, { ...SETTINGS, 'session.timeout.ms': '6000' })
    const [worker] = await group.start(1)
    const scene = { worker: worker!, client: clientOf(worker!), fifo: '', end: () => worker!.stop() }
    await create(scene, 'LogFlood', 'LogFlood')
    await create(scene, 'Buffers', 'Buffers')
    await untilState(scene, 'Buffers', 'FAILED')
    const rounds = await rebalancesOf(worker!)
    await expectServiceDuring(`${worker!.url}/`, () => sleep(2 * 6_000))
    expect(await rebalancesOf(worker!)).toBe(rounds)
  })
})

/** A worker on a log of its own, with a neighbour for whatever comes. */
async function setUp(): Promise<Scene> {
  const directory = partDirectory('hostile')
  const fifo = join(directory, 'fifo')
  execFileSync('mkfifo', [fifo])
  const worker = await startWorkerProcess({
    log: ['--data', join(directory, 'data')],
    groupId: 'hostile',
    settings: SETTINGS,
  })
  const scene: Scene = {
    worker,
    client: clientOf(worker),
    fifo,
    end: () => worker.stop(),
  }
  await create(scene, 'neighbour', 'Steady')
  await untilState(scene, 'neighbour', 'RUNNING')
  return scene
}

function create({ client, fifo }: Scene, connector: string, name: string): Promise<unknown> {
  return client.create(connector, { 'connector.class': name, topic: `records-${connector}`, fifo })
}

/** Has a connector of this class attack until `isOver`; meanwhile others are answered, and in the end the neighbour goes on. */
async function attack(scene: Scene, name: string, isOver: () => Promise<void>): Promise<void> {
  const { worker } = scene
  const run = async () => {
    await create(scene, name, name)
    await isOver()
  }
  await expectServiceDuring(`${worker.url}/`, run, name)
  await scene.client.delete(name).catch(() => undefined)
  await until('the neighbour to go on', WAIT, async () => (await stateOf(scene, 'neighbour')) === 'RUNNING')
  const before = (await polledOn(worker, 'neighbour')).get(0) ?? 0
  await until('the neighbour to write', WAIT, async () => ((await polledOn(worker, 'neighbour')).get(0) ?? 0) > before)
}

async function untilState(scene: Scene, connector: string, state: string): Promise<void> {
  await until(`${connector} to be ${state}`, WAIT, async () => (await stateOf(scene, connector)) === state)
}

/** A task is RUNNING before it misbehaves, and would still stop. */
async function untilMisbehaving({ worker }: Scene, connector: string): Promise<void> {
  const isMisbehaving = (line: string) => line.includes(`"connector":"${connector}"`) && line.includes('"misbehaving"')
  await until(`${connector} to misbehave`, WAIT, () => logOf(worker).split('\n').some(isMisbehaving))
}

async function stateOf({ client }: Scene, connector: string): Promise<string | undefined> {
  const status = await client.status(connector).catch(() => undefined)
  return status?.tasks[0]?.state
}

async function traceOf({ client }: Scene, connector: string): Promise<string> {
  return (await client.status(connector)).tasks[0]?.trace ?? ''
}

/** How many times a task had to go to another thread. */
function movesIn({ worker }: Scene): number {
  return logOf(worker).split('the task was interrupted').length - 1
}

function logOf({ logFile }: WeirWorker): string {
  return readFileSync(logFile, 'utf8')
}

async function rebalancesOf({ url }: WeirWorker): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^kafka_connect_worker_rebalance_metrics_completed_rebalances_total (\d+)$/m.exec(metrics)?.[1])
}
