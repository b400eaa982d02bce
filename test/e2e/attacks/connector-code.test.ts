import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorkerClient, type WorkerClient } from '../../../src/clients/worker-client.ts'
import { removeDirectory } from '../../env/remove-directory.ts'
import { expectServiceDuring } from '../../support/service-during.ts'
import { until } from '../../support/until.ts'
import { startWorkerProcess, type WeirWorker } from '../../support/worker-process.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
/** CPU time: innocent modules need less, also on a busy machine. */
const LOAD_MS = 4_000
/** Longer than other plugins need to load on a busy machine. */
const BLOCKED_MS = 4_000
/** The grace period of a program, and what Kubernetes gives it beyond. */
const GRACE_MS = 30_000

/** A source whose own code does what its configuration says, outside of any task. */
const HOSTILE = `
import { defineSource, z } from 'weir/sdk'

const DEEDS = {
  loop: () => spinForEver(),
  exit: () => process.exit(3),
  throwOutOfBand: () => new Promise(() => setTimeout(() => { throw new Error('out of band') }, 5)),
  hoard: () => { const held = []; for (;;) held.push(Buffer.alloc(10_000_000, 1)) },
  million: () => Array.from({ length: 1e6 }, () => ({ a: 'b' })),
  harmless: (raw) => [raw],
}

function spinForEver() {
  for (;;) {}
}

const parse = (text) => {
  if (text === 'loop') spinForEver()
  if (text === 'exit') process.exit(4)
  return true
}

export const hostile = defineSource({
  class: 'Hostile',
  version: '1.0.0',
  summary: 'Does harm outside of tasks.',
  config: z.object({ deed: z.string(), parsed: z.string().refine(parse).default('') }),
  tasks: ({ deed }, _, raw) => DEEDS[deed](raw),
  async *poll({ signal }) {
    while (!signal.aborted) {
      yield []
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  },
})
`

const PROVIDER = `
import { defineProvider, z } from 'weir/sdk'
export default defineProvider({
  class: 'LoopingProvider', version: '1.0.0', summary: 'Never reads.', config: z.object({}),
  create: () => ({ read() { for (;;) {} } }),
})
`

const FILES = {
  'hostile.ts': HOSTILE,
  'provider.ts': PROVIDER,
  'loops.ts': 'for (;;) {}',
  'exits.ts': 'process.exit(1)',
  'never.ts': 'await new Promise(() => {})',
}
const HARMFUL_WHEN_LOADED = ['loops.ts', 'exits.ts', 'never.ts']

const directory = mkdtempSync(join(tmpdir(), 'weir-'))
let worker: WeirWorker
let client: WorkerClient

beforeAll(async () => {
  const plugins = join(directory, 'plugins')
  mkdirSync(plugins)
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(plugins, name), text)
  await start()
  await client.create('neighbour', { 'connector.class': 'Datagen', 'kafka.topic': 'records', rate: '10' })
  await untilState('neighbour', 'RUNNING')
})

afterAll(async () => {
  await worker?.stop()
  removeDirectory(directory)
})

async function start(): Promise<void> {
  worker = await startWorkerProcess({
    log: ['--data', join(directory, 'data')],
    groupId: 'attacked',
    settings: {
      'plugin.path': join(directory, 'plugins'),
      'worker.thread.blocked.max.ms': String(BLOCKED_MS),
      'worker.plugin.load.timeout.ms': String(LOAD_MS),
      'worker.plugin.memory.mb': '128',
      'config.providers': 'loops',
      'config.providers.loops.class': 'LoopingProvider',
      'value.converter': 'StringConverter',
    },
  })
  client = createWorkerClient({ url: worker.url, timeoutMs: 60_000 })
}

/** SIGTERM, and nothing else: it has to end by itself. */
async function terminate(): Promise<void> {
  const pid = worker.pid!
  process.kill(pid, 'SIGTERM')
  await until('the worker to end', { everyMs: 20, timeoutMs: GRACE_MS }, () => !isRunning(pid))
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const config = (deed: string, more = {}) => ({ 'connector.class': 'Hostile', deed, ...more })

async function untilState(name: string, state: string): Promise<string> {
  await until(`${name} to be ${state}`, WAIT, async () => {
    const { connector } = await client.status(name).catch(() => ({ connector: undefined }))
    return connector?.state === state
  })
  return (await client.status(name)).connector.trace ?? ''
}

async function whileOthersAreServed(work: () => Promise<void>): Promise<void> {
  await expectServiceDuring(`${worker.url}/connectors`, work)
  expect((await client.status('neighbour')).connector.state).toBe('RUNNING')
}

describe('connector code outside of tasks', () => {
  const stopped = {
    loop: new RegExp(
      `^Hostile blocked its thread for more than ${BLOCKED_MS} ms .*stack of its thread:\\n +at spinForEver .*hostile\\.ts`,
    ),
  }
  const cases: readonly (readonly [string, RegExp])[] = [
    ['loop', stopped.loop],
    ['exit', /^Hostile ended its process with exit code 3 .*stack of its thread:\n +at .*hostile\.ts/s],
    ['throwOutOfBand', /^Error: out of band/],
    ['hoard', /^Hostile (exceeded the memory limit of its process, 128 MB|blocked its thread)/],
    ['million', /tasks\(\) returned 1000000 tasks, at most 10000 are allowed/],
  ]

  it.each(cases)('that does %s in tasks() fails only its connector, which can then be deleted', async (deed, trace) => {
    await whileOthersAreServed(async () => {
      await client.create(deed, config(deed))
      expect(await untilState(deed, 'FAILED')).toMatch(trace)
    })
    await client.delete(deed)
    expect(Object.keys(await client.list())).not.toContain(deed)
  })

  it('that failed can be corrected by a new configuration', async () => {
    await client.create('corrected', config('loop'))
    await untilState('corrected', 'FAILED')
    await client.putConfig('corrected', config('harmless'))
    await untilState('corrected', 'RUNNING')
    await until('its task', WAIT, async () => (await client.status('corrected')).tasks[0]?.state === 'RUNNING')
    await client.delete('corrected')
  })

  it.each([
    ['loops', 'loop', new RegExp(`Hostile blocked its thread for more than ${BLOCKED_MS} ms .*spinForEver`)],
    ['exits', 'exit', /Hostile ended its process with exit code 4/],
  ])('that %s during the validation of a configuration causes a 400 response', async (_, parsed, message) => {
    const body = JSON.stringify(config('harmless', { name: 'v', parsed }))
    await whileOthersAreServed(async () => {
      const answer = await fetch(`${worker.url}/connector-plugins/Hostile/config/validate`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body,
      })
      expect(answer.status).toBe(400)
      expect(((await answer.json()) as { message: string }).message).toMatch(message)
    })
  })

  it('that loops does not prevent the validation of another configuration of the same class', async () => {
    await client.create('blocking', config('loop'))
    const checked = await client.validate('Hostile', config('harmless', { name: 'v' }))
    expect(checked.error_count).toBe(0)
    expect(await untilState('blocking', 'FAILED')).toMatch(stopped.loop)
    await client.delete('blocking')
  })

  it('of a config provider that loops fails the connectors that use it, while others start', async () => {
    await whileOthersAreServed(async () => {
      const asking = client.create('asking', { ...config('harmless'), topic: '${loops:a:b}' })
      await client.create('later', config('harmless'))
      await untilState('later', 'RUNNING')
      await expect(asking).rejects.toThrow(/cannot resolve \$\{loops:a:…\}: LoopingProvider blocked its thread/)
    })
    await client.delete('later')
  })

  it('that loops, exits or never finishes while it is loaded is reported with its file, and the worker starts without it', () => {
    const log = readFileSync(worker.logFile, 'utf8')
    const faults = log.split('\n').flatMap((line) => (line.includes('could not be loaded') ? [JSON.parse(line)] : []))
    const reasons = Object.fromEntries(faults.map(({ file, reason }) => [file.replace(/.*\//, ''), reason]))
    expect(reasons).toEqual({
      'loops.ts': expect.stringMatching(new RegExp(`was not loaded within ${LOAD_MS} ms.*loops\\.ts`)),
      'exits.ts': expect.stringMatching(/ended its process with exit code 1.*exits\.ts/),
      'never.ts': expect.stringContaining('waits at its top level for a promise that never settles'),
    })
  })

  it('that loops ends with its worker on SIGTERM, fails again after a restart, and can then be deleted', async () => {
    await client.create('again', config('loop'))
    await terminate()
    for (const name of HARMFUL_WHEN_LOADED) rmSync(join(directory, 'plugins', name))
    await start()
    await whileOthersAreServed(async () => {
      await untilState('neighbour', 'RUNNING')
      expect(await untilState('again', 'FAILED')).toMatch(stopped.loop)
    })
    await client.delete('again')
    await terminate()
    await start()
    expect(Object.keys(await client.list())).toEqual(['neighbour'])
  })
})
