import crypto from 'node:crypto'
import http, { type RequestListener, type ServerOptions } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { HttpAgent } from '../../src/common/http-agent.ts'
import { currentProcess } from './current-process.ts'
import { SimulatedHttpServer } from './simulated-http-server.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { ScheduledEvent } from './simulation.ts'

/** A timer of virtual time, with the methods of Node's. */
class VirtualTimer {
  readonly #owner: SimulatedProcess
  readonly #delayMs: number
  readonly #repeats: boolean
  readonly #run: () => void
  #event: ScheduledEvent | undefined

  constructor(owner: SimulatedProcess, delayMs: number, repeats: boolean, run: () => void) {
    this.#owner = owner
    this.#delayMs = delayMs
    this.#repeats = repeats
    this.#run = run
    this.#start()
  }

  #start(): void {
    this.#event = this.#owner.simulation.schedule(this.#owner, this.#delayMs, () => {
      this.#event = undefined
      if (this.#repeats) this.#start()
      this.#run()
    })
  }

  close(): this {
    if (this.#event) this.#event.isCancelled = true
    this.#event = undefined
    return this
  }

  refresh(): this {
    this.close()
    this.#start()
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

type Callback = (...args: unknown[]) => void

/** Node fires a timer after a millisecond at least. */
const TIMEOUT_MS_MIN = 1
/** Node fires a timer of more at once, with a warning. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1

let isInstalled = false

/**
 * Gives the code of simulated processes virtual time and random numbers of the seed: `setTimeout` and its kind, `Date`,
 * `performance.now`, `AbortSignal.timeout` and `AbortSignal.any`, `Math.random` and those of `node:crypto`, and HTTP over the simulated
 * network. All other code keeps Node's.
 */
export function installVirtualGlobals(): void {
  if (isInstalled) return
  isInstalled = true
  replaceTimers()
  replaceSignals()
  replaceClocks()
  replaceRandomness()
  replaceHttp()
  syncBuiltinESMExports()
}

function replaceTimers(): void {
  const real = {
    setTimeout: globalThis.setTimeout,
    setInterval: globalThis.setInterval,
    setImmediate: globalThis.setImmediate,
    clearTimeout: globalThis.clearTimeout,
    clearInterval: globalThis.clearInterval,
    clearImmediate: globalThis.clearImmediate,
    sleep: timers.setTimeout,
    turn: timers.setImmediate,
  }
  const start =
    (repeats: boolean, original: (...args: never[]) => unknown) =>
    (run: Callback, ms = 0, ...args: unknown[]) => {
      const owner = currentProcess()
      if (owner === undefined) return (original as (...args: unknown[]) => unknown)(run, ms, ...args)
      const delayMs = ms >= TIMEOUT_MS_MIN && ms <= TIMEOUT_MS_MAX ? ms : TIMEOUT_MS_MIN
      return new VirtualTimer(owner, delayMs, repeats, () => run(...args))
    }
  const clear = (original: (timer?: never) => void) => (timer?: unknown) => {
    if (timer instanceof VirtualTimer) timer.close()
    else original(timer as never)
  }
  Object.assign(globalThis, {
    setTimeout: start(false, real.setTimeout),
    setInterval: start(true, real.setInterval),
    setImmediate: (run: Callback, ...args: unknown[]) => {
      const owner = currentProcess()
      return owner === undefined
        ? real.setImmediate(run, ...args)
        : new VirtualTimer(owner, 0, false, () => run(...args))
    },
    clearTimeout: clear(real.clearTimeout),
    clearInterval: clear(real.clearInterval),
    clearImmediate: clear(real.clearImmediate),
  })
  timers.setTimeout = ((ms?: number, value?: unknown, options?: { readonly signal?: AbortSignal }) =>
    currentProcess() === undefined ? real.sleep(ms, value, options) : virtualSleep(ms, value, options?.signal)) as never
  timers.setImmediate = ((value?: unknown, options?: { readonly signal?: AbortSignal }) =>
    currentProcess() === undefined ? real.turn(value, options) : virtualSleep(0, value, options?.signal)) as never
}

function replaceSignals(): void {
  const real = { timeout: AbortSignal.timeout, any: AbortSignal.any }
  AbortSignal.timeout = (ms: number) => {
    if (currentProcess() === undefined) return real.timeout(ms)
    const controller = new AbortController()
    setTimeout(() => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms)
    return controller.signal
  }
  // Node keeps a combined signal that has a listener until it aborts: those of a process that crashed, with all of its history, for ever.
  AbortSignal.any = (signals: readonly AbortSignal[]) => {
    if (currentProcess() === undefined) return real.any([...signals])
    const controller = new AbortController()
    for (const signal of signals) {
      const abort = () => controller.abort(signal.reason)
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort, { once: true })
    }
    return controller.signal
  }
}

function virtualSleep<T>(ms: number | undefined, value: T, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortError(signal))
    const onAbort = () => {
      clearTimeout(timer)
      reject(abortError(signal!))
    }
    const timer = (ms === 0 ? setImmediate : setTimeout)(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve(value)
    }, ms) as NodeJS.Timeout
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** As Node's timers reject. */
function abortError({ reason }: AbortSignal): Error {
  const error = new Error('The operation was aborted', { cause: reason })
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' })
}

function replaceClocks(): void {
  const RealDate = globalThis.Date
  const nowMs = () => Math.floor(currentProcess()?.wallMs ?? RealDate.now())
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [nowMs()] : args, newTarget) as object,
    get: (target, key, receiver) => (key === 'now' ? nowMs : (Reflect.get(target, key, receiver) as unknown)),
  })
  const realNow = performance.now.bind(performance)
  performance.now = () => currentProcess()?.simulation.nowMs ?? realNow()
}

function replaceRandomness(): void {
  const real = {
    random: Math.random,
    randomUUID: crypto.randomUUID,
    randomBytes: crypto.randomBytes,
    randomInt: crypto.randomInt,
  }
  const virtualBytes = (count: number) => {
    const random = currentProcess()?.simulation.random
    return random && Buffer.from(Array.from({ length: count }, () => random.below(256)))
  }
  Math.random = () => {
    const random = currentProcess()?.simulation.random
    return random === undefined ? real.random() : random.below(1_000_000) / 1_000_000
  }
  crypto.randomUUID = (options) => {
    const hex = virtualBytes(16)?.toString('hex')
    if (hex === undefined) return real.randomUUID(options)
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
  }
  crypto.randomBytes = ((count: number, callback?: never) =>
    (callback === undefined ? virtualBytes(count) : undefined) ??
    real.randomBytes(count, callback as never)) as typeof crypto.randomBytes
  crypto.randomInt = ((first: number, last?: number, callback?: never) => {
    const random = currentProcess()?.simulation.random
    if (random === undefined || callback !== undefined) return real.randomInt(first, last as never, callback as never)
    return last === undefined ? random.below(first) : random.between(first, last - 1)
  }) as typeof crypto.randomInt
}

function replaceHttp(): void {
  const { createServer } = http
  http.createServer = ((options: ServerOptions, listener: RequestListener) => {
    const process = currentProcess()
    return process === undefined
      ? createServer(options, listener)
      : new SimulatedHttpServer(process.simulation.http, listener)
  }) as typeof createServer
  const { send } = HttpAgent.prototype
  HttpAgent.prototype.send = function (this: HttpAgent, request) {
    return currentProcess()?.simulation.http.send(request) ?? send.call(this, request)
  }
}
