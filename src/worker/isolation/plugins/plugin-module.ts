import type { Clock } from '../../../config/clock.ts'
import type { PluginDescriptor } from '../../../plugins/descriptor.ts'
import { type PluginCall, type PluginOperation, pluginError } from '../../plugin-host.ts'
import type { PluginProcessEnd, PluginProcessMessage } from './plugin-messages.ts'
import type { PluginProcess, PluginProcessHandlers } from './plugin-process.ts'

export type PluginModuleOptions = {
  readonly clock: Pick<Clock, 'nowMs'>
  readonly open: (handlers: PluginProcessHandlers) => PluginProcess
  /** Timeout of a call, in ms, including the time it waits. */
  readonly timeoutMs: number
  readonly onOutput: (lines: readonly string[], dropped: number) => void
}

type Call = {
  readonly id: number
  readonly call: PluginCall
  readonly settled: PromiseWithResolvers<unknown>
  readonly deadlineMs: number
  postedMs: number
  hasBegun: boolean
  /** How many processes have ended while they executed the call. */
  interruptions: number
  /** Set when the call may have ended a process. It then runs in a process without other calls. */
  isSuspect: boolean
}

type Slot = {
  readonly process: PluginProcess
  readonly calls: Map<number, Call>
  readonly loaded: PromiseWithResolvers<readonly PluginDescriptor[]>
  isLoaded: boolean
  /** Set while the process does not begin calls, because code in it blocks. */
  isStalled: boolean
  /** Set when a call has exceeded its deadline and may never return. The process gets no more calls. */
  isRetired: boolean
  idleSinceMs: number
}

/** One process may be blocked until a deadline; the other one executes further calls meanwhile. */
const PROCESSES_MAX = 2
const CALLS_MAX = 1_000
const INTERRUPTIONS_MAX = 3
/** A process that has not begun a call within this time, in ms, counts as stalled. */
const STALLED_MS = 500
const IDLE_MS = 60_000

/**
 * Executes calls to the plugins of one module in processes of its own. When a call ends its process, that call is
 * rejected and the others are repeated in another process.
 */
export class PluginModule {
  readonly #options: PluginModuleOptions
  readonly #slots = new Set<Slot>()
  #waiting: Call[] = []
  #ids = 0

  constructor(options: PluginModuleOptions) {
    this.#options = options
  }

  /** Resolves to the plugins that the module exports. Rejects with a `WorkerError` when it cannot be loaded. */
  load(): Promise<readonly PluginDescriptor[]> {
    return this.#open().loaded.promise
  }

  call(call: PluginCall): Promise<unknown> {
    const { clock, timeoutMs } = this.#options
    const settled = Promise.withResolvers<unknown>()
    const made: Call = {
      id: this.#ids++,
      call,
      settled,
      deadlineMs: clock.nowMs() + timeoutMs,
      postedMs: 0,
      hasBegun: false,
      interruptions: 0,
      isSuspect: false,
    }
    if (this.#waiting.length >= CALLS_MAX) reject(made, 'plugins_busy', `has ${CALLS_MAX} calls waiting for it`)
    else this.#waiting.push(made)
    this.#assign()
    return settled.promise
  }

  /** Applies deadlines. To be called several times per second. */
  look(): void {
    const nowMs = this.#options.clock.nowMs()
    for (const call of this.#waiting) if (nowMs > call.deadlineMs) this.#expire(call)
    this.#waiting = this.#waiting.filter(({ deadlineMs }) => nowMs <= deadlineMs)
    for (const slot of [...this.#slots]) this.#lookAt(slot, nowMs)
    this.#assign()
  }

  close(): void {
    const calls = [...this.#waiting, ...[...this.#slots].flatMap((slot) => [...slot.calls.values()])]
    this.#waiting = []
    for (const slot of [...this.#slots]) this.#drop(slot)
    for (const call of calls) reject(call, 'plugins_busy', 'was not asked: the worker is stopping')
  }

  #lookAt(slot: Slot, nowMs: number): void {
    for (const call of slot.calls.values()) {
      if (nowMs <= call.deadlineMs) continue
      slot.calls.delete(call.id)
      if (call.hasBegun) slot.isRetired = true
      this.#expire(call)
    }
    const waiting = [...slot.calls.values()].filter(({ hasBegun }) => !hasBegun)
    if (slot.isLoaded && waiting.some(({ postedMs }) => nowMs - postedMs > STALLED_MS)) {
      slot.isStalled = true
      this.#takeBack(slot, waiting)
    }
    if (slot.calls.size > 0 || !slot.isLoaded) return
    if (slot.isRetired || nowMs - slot.idleSinceMs > IDLE_MS) this.#drop(slot)
  }

  #expire(call: Call): void {
    const { timeoutMs } = this.#options
    if (call.hasBegun) reject(call, 'plugin_unresponsive', `did not return within ${timeoutMs} ms`)
    else reject(call, 'plugins_busy', `was not called within ${timeoutMs} ms: other calls of its module took too long`)
  }

  /** Assigns waiting calls to processes that can begin them. */
  #assign(): void {
    while (this.#waiting[0] !== undefined) {
      const [call] = this.#waiting
      const slot = [...this.#slots].find((one) => accepts(one, call))
      if (slot === undefined && this.#slots.size >= PROCESSES_MAX) return
      this.#waiting.shift()
      this.#post(slot ?? this.#open(), call)
    }
  }

  #post(slot: Slot, call: Call): void {
    call.hasBegun = false
    call.postedMs = this.#options.clock.nowMs()
    slot.calls.set(call.id, call)
    if (slot.isLoaded) slot.process.post({ id: call.id, call: call.call })
  }

  #takeBack(slot: Slot, calls: readonly Call[]): void {
    for (const call of calls) slot.calls.delete(call.id)
    this.#waiting.unshift(...calls)
  }

  #open(): Slot {
    const slot: Slot = {
      process: this.#options.open({
        onMessage: (message) => this.#onMessage(slot, message),
        onEnd: (end) => this.#onEnd(slot, end),
      }),
      calls: new Map(),
      loaded: Promise.withResolvers(),
      isLoaded: false,
      isStalled: false,
      isRetired: false,
      idleSinceMs: 0,
    }
    // Only the caller of `load` waits for this promise.
    slot.loaded.promise.catch(() => undefined)
    this.#slots.add(slot)
    return slot
  }

  #drop(slot: Slot): void {
    this.#slots.delete(slot)
    slot.process.kill()
    slot.loaded.reject(pluginError('plugins_busy', failure('the worker is stopping')))
  }

  #onMessage(slot: Slot, message: Parameters<PluginProcessHandlers['onMessage']>[0]): void {
    const nowMs = this.#options.clock.nowMs()
    switch (message.type) {
      case 'loaded':
        slot.isLoaded = true
        slot.idleSinceMs = nowMs
        for (const call of slot.calls.values()) this.#post(slot, call)
        slot.loaded.resolve(message.plugins)
        break
      case 'load-failed':
        this.#loadFailed(slot, pluginError('plugin_failed', message.failure))
        break
      case 'begun': {
        const call = slot.calls.get(message.id)
        if (call) call.hasBegun = true
        slot.isStalled = false
        break
      }
      case 'returned':
      case 'threw':
        this.#onReturn(slot, message)
        slot.idleSinceMs = nowMs
        break
      case 'output':
        this.#options.onOutput(message.lines, message.dropped)
    }
    this.#assign()
  }

  #onReturn(slot: Slot, message: Extract<PluginProcessMessage, { readonly type: 'returned' | 'threw' }>): void {
    const call = slot.calls.get(message.id)
    // The call may have been moved to another process.
    if (!call) return
    slot.calls.delete(call.id)
    if (message.type === 'returned') call.settled.resolve(message.output)
    else call.settled.reject(pluginError('plugin_failed', message.failure))
    if (slot.isRetired && slot.calls.size === 0) this.#drop(slot)
  }

  #loadFailed(slot: Slot, error: Error): void {
    slot.loaded.reject(error)
    for (const call of slot.calls.values()) call.settled.reject(error)
    slot.calls.clear()
    this.#drop(slot)
  }

  #onEnd(slot: Slot, end: PluginProcessEnd): void {
    this.#slots.delete(slot)
    if (!slot.isLoaded) {
      this.#loadFailed(slot, pluginError(end.code, failure(`the module ${end.what}`, end.stack)))
      return
    }
    const calls = [...slot.calls.values()]
    const begun = calls.filter(({ hasBegun }) => hasBegun)
    const guilty = calls.find(({ id }) => id === end.id) ?? (begun.length === 1 ? begun[0] : undefined)
    if (guilty) reject(guilty, end.code, end.what, end.stack)
    const others = calls.filter((call) => call !== guilty)
    for (const call of others) {
      call.isSuspect ||= guilty === undefined && call.hasBegun
      call.interruptions += Number(call.hasBegun)
    }
    const again = others.filter(({ interruptions }) => interruptions <= INTERRUPTIONS_MAX)
    for (const call of others) {
      if (!again.includes(call))
        reject(call, 'plugins_busy', `was interrupted ${call.interruptions} times by other calls`)
    }
    this.#waiting.unshift(...again)
    this.#assign()
  }
}

function accepts(slot: Slot, call: Call): boolean {
  if (slot.isStalled || slot.isRetired) return false
  if (call.isSuspect) return slot.calls.size === 0
  return ![...slot.calls.values()].some(({ isSuspect }) => isSuspect)
}

const WORDS: Readonly<Record<PluginOperation, string>> = {
  'validate-config': 'validating a configuration',
  'make-tasks': 'making the configurations of tasks',
  'alter-offsets': 'checking offsets',
  'create-provider': 'creating a config provider',
  'read-values': 'reading values for placeholders',
}

function reject({ call, settled }: Call, code: Parameters<typeof pluginError>[0], what: string, stack?: string): void {
  const sentence = `${call.plugin.class} ${what} (it was ${WORDS[call.operation]})`
  settled.reject(pluginError(code, failure(sentence, stack)))
}

function failure(sentence: string, stack?: string) {
  if (stack === undefined) return { message: sentence, trace: sentence }
  const [where = ''] = stack.split('\n')
  return { message: `${sentence} ${where.trim()}`, trace: `${sentence}; stack of its thread:\n${stack}` }
}
