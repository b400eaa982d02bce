import type { Clock } from '../../../common/clock.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import { trimAsJava } from '../../../common/trim-as-java.ts'
import type { PluginDescriptor } from '../../../plugins/plugin-descriptor.ts'
import { type PluginCall, type PluginOperation, pluginError } from '../../plugin-host.ts'
import type { PluginProcessEnd, PluginProcessMessage } from './plugin-messages.ts'
import type { PluginProcess, PluginProcessHandlers } from './plugin-process.ts'

export type PluginProcessPoolOptions = {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly logger: Pick<Logger, 'warn'>
  readonly open: (handlers: PluginProcessHandlers) => PluginProcess
  /** How long a call without a signal may run, in ms. The time in which it waits for its process does not count. */
  readonly timeoutMs: number
  /** How long a process without calls is kept, in ms. Default: one minute. */
  readonly idleMs?: number
}

type Call = {
  readonly id: number
  readonly call: PluginCall
  readonly settled: PromiseWithResolvers<unknown>
  /** Whether the limit of a request applies. */
  readonly isLimited: boolean
  /** Infinite until the call begins. */
  beganMs: number
  /** When its slowness is reported next. Infinite until the call begins. */
  reportMs: number
  /** The time that its process had when the call was sent to it. */
  postedOwnMs: number
  hasBegun: boolean
  /** How many processes have ended while they executed the call. */
  interruptions: number
  /** Set when the call may have ended a process. It then runs in a process without other calls. */
  isSuspect: boolean
}

type ModuleProcess = {
  readonly handle: PluginProcess
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
/** A process that had this time, in ms, without beginning a call counts as stalled. */
const STALL_MS_MAX = 500
/** Interval of reports of a call that does not return, in ms. */
const SLOW_CALL_MS = 10_000
const IDLE_TIMEOUT_MS = 60_000

/**
 * Executes calls to the plugins of one module in processes of its own. When a call ends its process, that call is
 * rejected and the others are repeated in another process. Its calls wait here and not for a `Semaphore`, because calls return
 * to the front of the line and expire there.
 */
export class PluginProcessPool {
  readonly #options: PluginProcessPoolOptions
  readonly #processes = new Set<ModuleProcess>()
  #waiting: Call[] = []
  #lastId = 0

  constructor(options: PluginProcessPoolOptions) {
    this.#options = options
  }

  /** Resolves to the plugins that the module exports. Rejects with a `WorkerError` when it cannot be loaded. */
  load(): Promise<readonly PluginDescriptor[]> {
    return this.#open().loaded.promise
  }

  /** With `signal` the call has no time limit, but ends when the signal aborts. */
  call(call: PluginCall, signal?: AbortSignal): Promise<unknown> {
    const settled = Promise.withResolvers<unknown>()
    const pending: Call = {
      id: this.#lastId++,
      call,
      settled,
      isLimited: signal === undefined,
      beganMs: Number.POSITIVE_INFINITY,
      reportMs: Number.POSITIVE_INFINITY,
      postedOwnMs: 0,
      hasBegun: false,
      interruptions: 0,
      isSuspect: false,
    }
    if (this.#waiting.length >= CALLS_MAX) reject(pending, 'plugins_busy', `has ${CALLS_MAX} calls waiting for it`)
    else this.#waiting.push(pending)
    this.#assign()
    return signal === undefined ? settled.promise : this.#untilAborted(pending, signal)
  }

  async #untilAborted(call: Call, signal: AbortSignal): Promise<unknown> {
    const onAbort = () => {
      call.settled.reject(signal.reason)
      this.#giveUp(call)
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await call.settled.promise
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** A process that has begun the call gets no other calls, because this one may never return. */
  #giveUp(call: Call): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting !== call)
    for (const process of [...this.#processes]) {
      if (!process.calls.delete(call.id)) continue
      process.isRetired ||= call.hasBegun
      if (process.isRetired && process.calls.size === 0 && process.isLoaded) this.#drop(process)
    }
  }

  /** Applies limits. To be called several times per second. */
  check(): void {
    const nowMs = this.#options.clock.monotonicMs()
    for (const process of [...this.#processes]) this.#checkProcess(process, nowMs)
    this.#assign()
  }

  close(): void {
    const calls = [...this.#waiting, ...[...this.#processes].flatMap((process) => [...process.calls.values()])]
    this.#waiting = []
    for (const process of [...this.#processes]) this.#drop(process)
    for (const call of calls) reject(call, 'plugins_busy', 'was not called, because the worker is stopping')
  }

  #checkProcess(process: ModuleProcess, nowMs: number): void {
    const { timeoutMs } = this.#options
    for (const call of process.calls.values()) {
      if (nowMs > call.reportMs) this.#reportSlow(call, nowMs)
      if (!call.isLimited || nowMs - call.beganMs <= timeoutMs) continue
      process.calls.delete(call.id)
      process.isRetired = true
      reject(call, 'plugin_unresponsive', `did not return within ${timeoutMs} ms`)
    }
    const waiting = [...process.calls.values()].filter(({ hasBegun }) => !hasBegun)
    const { ownMs } = process.handle
    if (process.isLoaded && waiting.some(({ postedOwnMs }) => ownMs - postedOwnMs > STALL_MS_MAX)) {
      process.isStalled = true
      this.#requeue(process, waiting)
    }
    if (process.calls.size > 0 || !process.isLoaded) return
    if (process.isRetired || nowMs - process.idleSinceMs > (this.#options.idleMs ?? IDLE_TIMEOUT_MS))
      this.#drop(process)
  }

  #reportSlow(call: Call, nowMs: number): void {
    call.reportMs = nowMs + SLOW_CALL_MS
    const { operation, plugin } = call.call
    const fields = { class: plugin.class, operation, waitedMs: Math.round(nowMs - call.beganMs) }
    this.#options.logger.warn(fields, 'a call of a plugin is slow to return')
  }

  /** Assigns waiting calls to processes that can begin them. */
  #assign(): void {
    while (this.#waiting[0] !== undefined) {
      const [call] = this.#waiting
      const process = [...this.#processes].find((one) => accepts(one, call))
      if (process === undefined && this.#processes.size >= PROCESSES_MAX) return
      this.#waiting.shift()
      this.#post(process ?? this.#open(), call)
    }
  }

  #post(process: ModuleProcess, call: Call): void {
    call.hasBegun = false
    call.beganMs = Number.POSITIVE_INFINITY
    call.reportMs = Number.POSITIVE_INFINITY
    call.postedOwnMs = process.handle.ownMs
    process.calls.set(call.id, call)
    if (process.isLoaded) process.handle.post({ id: call.id, call: call.call })
  }

  #requeue(process: ModuleProcess, calls: readonly Call[]): void {
    for (const call of calls) process.calls.delete(call.id)
    this.#waiting.unshift(...calls)
  }

  #open(): ModuleProcess {
    const process: ModuleProcess = {
      handle: this.#options.open({
        onMessage: (message) => this.#onMessage(process, message),
        onEnd: (end) => this.#onEnd(process, end),
      }),
      calls: new Map(),
      loaded: Promise.withResolvers(),
      isLoaded: false,
      isStalled: false,
      isRetired: false,
      idleSinceMs: 0,
    }
    // Only the caller of `load` waits for this promise.
    process.loaded.promise.catch(() => undefined)
    this.#processes.add(process)
    return process
  }

  #drop(process: ModuleProcess): void {
    this.#processes.delete(process)
    process.handle.kill()
    process.loaded.reject(pluginError('plugins_busy', failure('the worker is stopping')))
  }

  #onMessage(process: ModuleProcess, message: Parameters<PluginProcessHandlers['onMessage']>[0]): void {
    const nowMs = this.#options.clock.monotonicMs()
    switch (message.type) {
      case 'loaded':
        process.isLoaded = true
        process.idleSinceMs = nowMs
        for (const call of process.calls.values()) this.#post(process, call)
        process.loaded.resolve(message.plugins)
        break
      case 'load-failed':
        this.#loadFailed(process, pluginError('plugin_failed', message.failure))
        break
      case 'begun': {
        const call = process.calls.get(message.id)
        if (call) {
          call.hasBegun = true
          call.beganMs = nowMs
          call.reportMs = nowMs + SLOW_CALL_MS
        }
        process.isStalled = false
        break
      }
      case 'returned':
      case 'threw':
        this.#onReturn(process, message)
        process.idleSinceMs = nowMs
    }
    this.#assign()
  }

  #onReturn(
    process: ModuleProcess,
    message: Extract<PluginProcessMessage, { readonly type: 'returned' | 'threw' }>,
  ): void {
    const call = process.calls.get(message.id)
    // The call may have been moved to another process.
    if (!call) return
    process.calls.delete(call.id)
    if (message.type === 'returned') call.settled.resolve(message.output)
    else call.settled.reject(pluginError('plugin_failed', message.failure))
    if (process.isRetired && process.calls.size === 0) this.#drop(process)
  }

  #loadFailed(process: ModuleProcess, error: Error): void {
    process.loaded.reject(error)
    for (const call of process.calls.values()) call.settled.reject(error)
    process.calls.clear()
    this.#drop(process)
  }

  #onEnd(process: ModuleProcess, end: PluginProcessEnd): void {
    this.#processes.delete(process)
    if (!process.isLoaded) {
      this.#loadFailed(process, pluginError(end.code, failure(`the module ${end.what}`, end.stack)))
      return
    }
    const calls = [...process.calls.values()]
    const begun = calls.filter(({ hasBegun }) => hasBegun)
    const culprit = calls.find(({ id }) => id === end.id) ?? (begun.length === 1 ? begun[0] : undefined)
    if (culprit) reject(culprit, end.code, end.what, end.stack)
    const others = calls.filter((call) => call !== culprit)
    for (const call of others) {
      call.isSuspect ||= culprit === undefined && call.hasBegun
      call.interruptions += Number(call.hasBegun)
    }
    const repeated = others.filter(({ interruptions }) => interruptions <= INTERRUPTIONS_MAX)
    for (const call of others) {
      if (!repeated.includes(call))
        reject(call, 'plugins_busy', `was interrupted ${call.interruptions} times by other calls`)
    }
    this.#waiting.unshift(...repeated)
    this.#assign()
  }
}

function accepts(process: ModuleProcess, call: Call): boolean {
  if (process.isStalled || process.isRetired) return false
  if (call.isSuspect) return process.calls.size === 0
  return ![...process.calls.values()].some(({ isSuspect }) => isSuspect)
}

/** Complete the sentence of an error message. */
const DESCRIPTIONS: Readonly<Record<PluginOperation, string>> = {
  'validate-config': 'during the validation of a configuration',
  'make-tasks': 'during the generation of task configurations',
  'alter-offsets': 'during the check of offsets',
  'exactly-once-support': 'during the validation of a configuration',
  'create-provider': 'during the creation of a config provider',
  'read-values': 'during the resolution of placeholders',
  'decode-payloads': 'during the conversion of dead letters',
  'encode-payload': 'during the conversion of a corrected dead letter',
  'preview-records': 'during a preview of records, in which all plugins of the connector take part',
}

function reject({ call, settled }: Call, code: Parameters<typeof pluginError>[0], what: string, stack?: string): void {
  const sentence = `${call.plugin.class} ${what} (${DESCRIPTIONS[call.operation]})`
  settled.reject(pluginError(code, failure(sentence, stack)))
}

function failure(sentence: string, stack?: string) {
  if (stack === undefined) return { message: sentence, trace: sentence }
  const [where = ''] = stack.split('\n')
  return { message: `${sentence} ${trimAsJava(where)}`, trace: `${sentence}; stack of its thread:\n${stack}` }
}
