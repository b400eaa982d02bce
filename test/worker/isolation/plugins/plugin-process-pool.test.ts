import { expect, it } from 'vitest'
import type { Logger } from '../../../../src/common/logging/logger.ts'
import type { PluginProcessHandlers } from '../../../../src/worker/isolation/plugins/plugin-process.ts'
import { PluginProcessPool } from '../../../../src/worker/isolation/plugins/plugin-process-pool.ts'
import type { PluginCall } from '../../../../src/worker/plugin-host.ts'

const TIMEOUT_MS = 10_000
const STALLED_MS = 600
const IDLE_MS = 61_000

const CALL: PluginCall = {
  operation: 'make-tasks',
  plugin: { kind: 'source', class: 'Ticks', version: '1' },
  input: { config: {}, tasksMax: 1 },
}

/** A process that the test controls. */
type FakeProcess = PluginProcessHandlers & { readonly posted: number[]; isKilled: boolean; ownMs: number }

function moduleOf() {
  const processes: FakeProcess[] = []
  const clock = { ms: 0, monotonicMs: () => clock.ms }
  const warnings: string[] = []
  const module = new PluginProcessPool({
    clock,
    logger: { warn: (fields: object) => void warnings.push(JSON.stringify(fields)) } as unknown as Logger,
    timeoutMs: TIMEOUT_MS,
    open: (handlers) => {
      const fake: FakeProcess = { ...handlers, posted: [], isKilled: false, ownMs: 0 }
      processes.push(fake)
      return {
        get ownMs() {
          return fake.ownMs
        },
        post: ({ id }) => void fake.posted.push(id),
        kill: () => void Object.assign(fake, { isKilled: true }),
      }
    },
  })
  const process = (at: number) => {
    const found = processes[at]
    if (!found) throw new Error(`no process ${at} was started`)
    return found
  }
  return {
    module,
    processes,
    process,
    warnings,
    advance(ms: number) {
      clock.ms += ms
      for (const process of processes) process.ownMs += ms
      module.check()
    },
    /** As `advance`, on a machine that does not run the processes. */
    starve(ms: number) {
      clock.ms += ms
      module.check()
    },
    load: (at: number) => process(at).onMessage({ type: 'loaded', plugins: [] }),
    begin: (at: number, id: number) => process(at).onMessage({ type: 'begun', id }),
    return: (at: number, id: number, output: unknown) => process(at).onMessage({ type: 'returned', id, output }),
  }
}

/** The result of the call, or its error code and message. */
function outcomeOf(call: Promise<unknown>): Promise<string> {
  return call.then(String, (error: { code: string; message: string }) => `${error.code}: ${error.message}`)
}

it('executes all calls in one process, which the first call starts', async () => {
  const { module, processes, process, load, ...say } = moduleOf()
  const [one, two] = [module.call(CALL), module.call(CALL)]
  expect(process(0).posted).toEqual([])
  load(0)
  expect(process(0).posted).toEqual([0, 1])
  for (const id of [1, 0]) say.begin(0, id)
  for (const id of [1, 0]) say.return(0, id, `result ${id}`)
  expect(await Promise.all([one, two])).toEqual(['result 0', 'result 1'])
  expect(processes).toHaveLength(1)
})

it('rejects the call that crashed the plugin process, and retries the other calls in a new process', async () => {
  const { module, process, load, begin, ...say } = moduleOf()
  const calls = [module.call(CALL), module.call(CALL), module.call(CALL)].map(outcomeOf)
  load(0)
  for (const id of [0, 1]) begin(0, id)
  process(0).onEnd({ code: 'plugin_unresponsive', what: 'blocked its thread', id: 0, stack: '  at spin (x.ts:1:1)' })
  load(1)
  expect(process(1).posted).toEqual([1, 2])
  for (const id of [1, 2]) say.return(1, id, 'done')
  expect(await Promise.all(calls)).toEqual([
    'plugin_unresponsive: Ticks blocked its thread (during the generation of task configurations) at spin (x.ts:1:1)',
    'done',
    'done',
  ])
})

it('retries calls one at a time when it is unknown which of them crashed the plugin process', async () => {
  const { module, process, load, begin, ...say } = moduleOf()
  const calls = [module.call(CALL), module.call(CALL)].map(outcomeOf)
  load(0)
  for (const id of [0, 1]) begin(0, id)
  process(0).onEnd({ code: 'plugin_crashed', what: 'ended its process' })
  for (const at of [1, 2]) load(at)
  expect([process(1).posted, process(2).posted]).toEqual([[0], [1]])
  begin(1, 0)
  process(1).onEnd({ code: 'plugin_crashed', what: 'ended its process' })
  say.return(2, 1, 'done')
  expect(await Promise.all(calls)).toEqual([expect.stringContaining('plugin_crashed: Ticks ended its process'), 'done'])
})

it('moves calls that a blocked process does not begin to another process', async () => {
  const { module, process, load, begin, advance, ...say } = moduleOf()
  module.call(CALL).catch(() => undefined)
  load(0)
  begin(0, 0)
  const later = module.call(CALL)
  advance(STALLED_MS)
  load(1)
  expect(process(1).posted).toEqual([1])
  say.return(1, 1, 'done')
  expect(await later).toBe('done')
})

it('starts at most two processes, in which further calls wait until others have ended', async () => {
  const { module, processes, process, load, begin, advance, ...say } = moduleOf()
  const calls = [0, 1].map((at) => {
    const call = outcomeOf(module.call(CALL))
    load(at)
    begin(at, 2 * at)
    const next = outcomeOf(module.call(CALL))
    advance(STALLED_MS)
    return [call, next]
  })
  expect(processes).toHaveLength(2)
  advance(TIMEOUT_MS)
  expect(await calls[0]?.[0]).toContain('plugin_unresponsive: Ticks did not return within 10000 ms')
  // A call that nobody could begin is not late.
  load(2)
  for (const id of process(2).posted) say.return(2, id, 'done')
  expect(await calls[0]?.[1]).toBe('done')
})

it('assigns no further calls to a process in which a call exceeded its timeout, and ends it', async () => {
  const { module, process, load, begin, advance } = moduleOf()
  const stuck = outcomeOf(module.call(CALL))
  load(0)
  begin(0, 0)
  advance(TIMEOUT_MS + 1)
  expect(await stuck).toContain('did not return within 10000 ms')
  expect(process(0).isKilled).toBe(true)
  module.call(CALL).catch(() => undefined)
  load(1)
  expect(process(1).posted).toEqual([1])
})

it('does not count the time in which its process loads', async () => {
  const { module, process, load, advance, ...say } = moduleOf()
  const late = outcomeOf(module.call(CALL))
  advance(TIMEOUT_MS + 1)
  load(0)
  expect(process(0).posted).toEqual([0])
  say.return(0, 0, 'done')
  expect(await late).toBe('done')
})

it('ends an idle process, and starts a new one for the next call', async () => {
  const { module, process, load, advance, ...say } = moduleOf()
  const loaded = module.load()
  load(0)
  expect(await loaded).toEqual([])
  advance(IDLE_MS)
  expect(process(0).isKilled).toBe(true)
  const next = module.call(CALL)
  load(1)
  say.return(1, 0, 'done')
  expect(await next).toBe('done')
})

it('rejects waiting calls when the module can no longer be loaded', async () => {
  const { module, process, advance } = moduleOf()
  const call = outcomeOf(module.call(CALL))
  process(0).onMessage({ type: 'load-failed', failure: { message: 'no licence', trace: 'no licence' } })
  advance(0)
  expect(await call).toBe('plugin_failed: no licence')
})

it('rejects all waiting calls when it is closed', async () => {
  const { module, process, load } = moduleOf()
  const call = outcomeOf(module.call(CALL))
  load(0)
  module.close()
  expect(await call).toContain('plugins_busy: Ticks was not called, because the worker is stopping')
  expect(process(0).isKilled).toBe(true)
})

it('neither moves nor fails calls of a process that the machine does not run', async () => {
  const { module, processes, process, load, starve, ...say } = moduleOf()
  const call = module.call(CALL)
  load(0)
  starve(TIMEOUT_MS + 1)
  expect(processes).toHaveLength(1)
  expect(process(0).posted).toEqual([0])
  say.return(0, 0, 'done')
  expect(await call).toBe('done')
})

it('does not limit a call with a signal, but reports that it is slow, and gives it up when the signal aborts', async () => {
  const { module, process, load, begin, advance, warnings, ...say } = moduleOf()
  const stopping = new AbortController()
  const [slow, other] = [outcomeOf(module.call(CALL, stopping.signal)), module.call(CALL)]
  load(0)
  begin(0, 0)
  begin(0, 1)
  advance(TIMEOUT_MS / 2)
  say.return(0, 1, 'done')
  expect(await other).toBe('done')
  advance(TIMEOUT_MS)
  expect(warnings).toEqual([JSON.stringify({ class: 'Ticks', operation: 'make-tasks', waitedMs: 15_000 })])
  expect(process(0).isKilled).toBe(false)
  stopping.abort(Object.assign(new Error('stopped'), { code: 'aborted' }))
  expect(await slow).toBe('aborted: stopped')
  expect(process(0).isKilled).toBe(true)
})
