import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient, type WorkerClient } from '../../src/clients/worker-client.ts'
import { OLDER_COMMIT, olderProgram } from '../env/older-program.ts'
import { freePort } from '../env/ports.ts'
import { describeOn, real } from '../env/real.ts'
import type { Program } from '../support/cli.ts'
import { DatagenVerifier } from '../support/datagen-verifier.ts'
import { RegistrationLoad, registrationProblems } from '../support/registry-load.ts'
import { startRegistryProcess } from '../support/registry-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const TASKS = 4
const ITERATIONS = 3_000
const WAIT = { everyMs: 100, timeoutMs: 120_000 }

const kafka = await real('kafka')

describeOn([kafka], 'a worker group and a registry group whose instances are replaced under load', () => {
  /**
   * A shallow clone does not have the older commit. There, the same version takes both roles, which is a rolling restart;
   * `upgrade.test.ts` reads what an older version has stored from a recording.
   */
  it('lose nothing, assign no id twice and agree on statuses: to this version and back to an older one', {
    timeout: 300_000,
  }, async () => {
    const older = await olderProgram()
    console.info(
      older === undefined ? 'a rolling restart: this clone does not have the older commit' : `from ${OLDER_COMMIT}`,
    )
    const name = `rolling-${process.pid}`
    const workers = await instancesOf((url, program) =>
      startWorkerProcess({ log: log(), groupId: name, settings: { ...WORKER, listeners: url }, program }),
    )
    const registries = await instancesOf((url, program) =>
      startRegistryProcess(log(), { ...registrySettings(name), listeners: url }, [], program),
    )
    const start = (at: number, program: string | undefined) =>
      Promise.all([workers.start(at, program), registries.start(at, program)])
    await start(0, older)
    await start(1, older)

    const clients = workers.urls.map((url) => createWorkerClient({ url, timeoutMs: 20_000 }))
    const registryClients = registries.urls.map((url) => createRegistryClient({ url, timeoutMs: 20_000 }))
    const load = new RegistrationLoad(registryClients)
    const verifier = new DatagenVerifier(kafka.address.bootstrap, { topic: name, tasks: TASKS, iterations: ITERATIONS })
    const config = {
      'connector.class': 'Datagen',
      ...verifier.config,
      'tasks.max': String(TASKS),
      'exactly.once.support': 'required',
      'transaction.boundary': 'interval',
      'transaction.boundary.interval.ms': '200',
    }
    const file = join(temporaryDirectory(), 'out.txt')
    await accepted(() => clients[0]!.putConfig('gen', { ...config, rate: '50' }))
    const copy = {
      'connector.class': 'FileStreamSink',
      topics: name,
      file,
      'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
    }
    await accepted(() => clients[1]!.putConfig('copy', copy))

    const converged = async (rate: number) => {
      await until('both workers to run tasks and to report the same statuses', WAIT, async () => {
        const [first, second] = await Promise.all(clients.map(statusesOf))
        return first !== undefined && isDeepStrictEqual(first, second) && allRun(first, workers.urls)
      })
      const before = load.acknowledged.size
      await until('registrations by both registries', WAIT, () => load.acknowledged.size > before + 20)
      // One of the two forwards the request to the leader.
      for (const client of clients) {
        await accepted(() => client.putConfig('gen', { ...config, rate: String(rate) }))
      }
    }
    await converged(60)
    const replacements = [
      { at: 0, program: undefined },
      { at: 1, program: undefined },
      { at: 0, program: older },
      { at: 1, program: older },
    ]
    for (const [step, { at, program }] of replacements.entries()) {
      await Promise.all([workers.stop(at), registries.stop(at)])
      await start(at, program)
      await converged(70 + step)
    }

    await load.stop()
    expect(await registrationProblems(load, registryClients)).toEqual([])
    await accepted(() => clients[0]!.putConfig('gen', { ...config, rate: '2000' }))
    expect(await verifier.untilComplete(WAIT.timeoutMs)).toBe(0)
    const copied = () => new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []).size
    await until('every record in the file', { ...WAIT, everyMs: 500 }, () => copied() === TASKS * ITERATIONS)
  })
})

const WORKER = {
  'session.timeout.ms': '6000',
  'heartbeat.interval.ms': '500',
  'scheduled.rebalance.max.delay.ms': '0',
  'offset.flush.interval.ms': '500',
  'exactly.once.source.support': 'enabled',
}

function registrySettings(name: string): Readonly<Record<string, string>> {
  return {
    'schema.registry.group.id': `${name}-registry`,
    'brokerstore.topic': `${name}-schemas`,
    'dek.registry.topic': `${name}-keys`,
    'brokergroup.heartbeat.interval.ms': '500',
  }
}

function log(): readonly string[] {
  return ['--bootstrap', kafka.address.bootstrap]
}

/** Two instances of a program, each of which keeps its URL when it is replaced. */
async function instancesOf(open: (url: string, program: string | undefined) => Promise<Program>) {
  const urls = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  const running = new Map<number, Program>()
  onTestFinished(async () => {
    await Promise.all([...running.values()].map((program) => program.kill()))
  })
  return {
    urls,
    async start(at: number, program: string | undefined) {
      running.set(at, await open(urls[at]!, program))
    },
    stop: async (at: number) => running.get(at)?.stop(),
  }
}

type Statuses = Awaited<ReturnType<WorkerClient['list']>>

/** Undefined while the worker does not respond. */
function statusesOf(client: WorkerClient): Promise<Statuses | undefined> {
  return client.list().catch(() => undefined)
}

/** Whether all tasks run, and each of the workers runs some. */
function allRun(statuses: Statuses, urls: readonly string[]): boolean {
  const tasks = Object.values(statuses).flatMap(({ status }) => status?.tasks ?? [])
  const hosts = new Set(tasks.map((task) => task.worker_id))
  const isSpread = urls.every((url) => hosts.has(new URL(url).host))
  return isSpread && tasks.length === TASKS + 1 && tasks.every(({ state }) => state === 'RUNNING')
}

/** Repeats a request while the group rebalances. */
async function accepted(request: () => Promise<unknown>): Promise<void> {
  await until('a request to be accepted', WAIT, async () => {
    try {
      await request()
      return true
    } catch (error) {
      if ((error as { retriable?: boolean }).retriable === true) return false
      throw error
    }
  })
}
