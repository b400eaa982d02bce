import type { SeededRandom } from '../support/seeded-random.ts'
import { currentProcess } from './current-process.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { Simulation } from './simulation.ts'

/** How many of 1,000 calls each fault happens to. */
export type NetworkFaults = {
  /** A request is lost before it arrives. The caller sees that the connection broke, or nothing. */
  readonly requestLost: number
  /** A response is lost after the request had its effect. The caller sees that the connection broke, or nothing. */
  readonly responseLost: number
  /** A message takes up to `SLOW_MS` instead of up to `LATENCY_MS`. */
  readonly slow: number
  /** A request that the caller believes to be lost arrives later. */
  readonly late: number
  /** How much later at most. Default: `LATE_MS`. */
  readonly lateMsMax?: number
}

export const NO_FAULTS: NetworkFaults = { requestLost: 0, responseLost: 0, slow: 0, late: 0 }

const LATENCY_US = 4_000
const SLOW_MS = 3_000
/** How long the parts of a broken connection may stay on their way. */
const LATE_MS = 8_000

/** The caller cannot know whether the request had an effect. */
export class ConnectionBrokenError extends Error {
  readonly code = 'ECONNRESET'

  constructor() {
    super('the connection broke off')
  }
}

/** Nothing listens there: the request had no effect. */
export class ConnectionRefusedError extends Error {
  readonly code = 'ECONNREFUSED'

  constructor(name: string) {
    super(`connect ECONNREFUSED ${name}`)
  }
}

export type Call<Response> = {
  /** Executed by the process that is called, once for each time that the request arrives; `isLate`: its caller gave it up. */
  readonly execute: (isLate: boolean) => Promise<Response>
  /** For the timeline. Absent: not noted. */
  readonly label?: string
  /** Whether calls of the same caller arrive in their order, as on one connection. */
  readonly inOrder?: boolean
}

/**
 * The network of a simulation. A call is delivered after a delay, executed by the process that is called, and answered after another
 * one. It may be lost, late or repeated, and processes may be unable to reach each other.
 */
export class Network {
  readonly #simulation: Simulation
  /** Pairs of machines that cannot reach each other. */
  readonly #partitions = new Set<string>()
  readonly #random = new Map<string, SeededRandom>()
  /** When the last ordered message of a connection arrives. */
  readonly #arrivals = new Map<string, number>()
  /** The same of connections on which a server sends piece by piece. */
  readonly #pieces = new WeakMap<object, number>()
  #losses = 0
  faults: NetworkFaults = NO_FAULTS

  constructor(simulation: Simulation) {
    this.#simulation = simulation
  }

  /** Cuts the connection between two machines, in both directions. */
  cut(left: string, right: string): void {
    this.#partitions.add(pair(left, right))
    this.#simulation.note('network', `${left} and ${right} cannot reach each other`)
  }

  restore(left: string, right: string): void {
    if (this.#partitions.delete(pair(left, right)))
      this.#simulation.note('network', `${left} and ${right} can reach each other again`)
  }

  heal(): void {
    if (this.#partitions.size === 0) return
    this.#partitions.clear()
    this.#simulation.note('network', 'all connections work again')
  }

  isCut(left: string, right: string): boolean {
    return this.#partitions.size > 0 && this.#partitions.has(pair(left, right))
  }

  /** How many messages did not arrive. */
  get losses(): number {
    return this.#losses
  }

  /** Sends a piece on a connection, on which pieces arrive in their order. Returns false if it cannot arrive. */
  push(
    from: SimulatedProcess,
    to: SimulatedProcess,
    { connection, lateMs }: { readonly connection: object; readonly lateMs: number },
    run: () => void,
  ): boolean {
    if (this.isCut(from.machine, to.machine)) {
      this.#losses += 1
      return false
    }
    const { nowMs } = this.#simulation
    const atMs = Math.max(this.#pieces.get(connection) ?? 0, nowMs + lateMs + this.#delayMs(this.#randomOf(from, to)))
    this.#pieces.set(connection, atMs)
    this.#simulation.schedule(to, atMs - nowMs, run)
    return true
  }

  /** The caller is the current process. Rejects with a `ConnectionBrokenError`, or with the error of `execute`; may never settle. */
  call<Response>(callee: SimulatedProcess, call: Call<Response>): Promise<Response> {
    const caller = currentProcess()
    if (caller === undefined) throw new Error('only simulated processes call others')
    return new Promise((resolve, reject) => {
      if (!caller.isAlive) return
      this.#send(caller, callee, call, resolve, reject)
    })
  }

  #send<Response>(
    caller: SimulatedProcess,
    callee: SimulatedProcess,
    call: Call<Response>,
    resolve: (response: Response) => void,
    reject: (error: unknown) => void,
  ): void {
    const random = this.#randomOf(caller, callee)
    const settle = (run: () => void) => this.#deliver(caller, random, run)
    const breakOff = () => {
      this.#losses += 1
      // Half of the callers do not notice, and end by their own limit.
      if (random.below(2) === 0) settle(() => reject(new ConnectionBrokenError()))
    }
    const lose = (what: string, part: number) => {
      if (random.below(1_000) >= part) return false
      if (call.label !== undefined) this.#simulation.note(caller.name, `${call.label} to ${callee.name}: ${what}`)
      return true
    }
    const { requestLost, responseLost, late, lateMsMax = LATE_MS } = this.faults
    if (this.isCut(caller.machine, callee.machine)) {
      breakOff()
      return
    }
    if (lose('the request is lost', requestLost)) {
      breakOff()
      if (random.below(1_000) < late)
        this.#simulation.schedule(callee, random.below(lateMsMax), () => {
          if (call.label !== undefined)
            this.#simulation.note(callee.name, `${call.label} of ${caller.name} arrives late`)
          call.execute(true).catch(() => undefined)
        })
      return
    }
    const connection = `${caller.name} ${callee.name}`
    const delayMs = this.#delayMs(random)
    const atMs = this.#simulation.nowMs + delayMs
    const arrivalMs = call.inOrder ? Math.max(this.#arrivals.get(connection) ?? 0, atMs) : atMs
    if (call.inOrder) this.#arrivals.set(connection, arrivalMs)
    if (!callee.isAlive) {
      settle(() => reject(new ConnectionRefusedError(callee.name)))
      return
    }
    this.#simulation.schedule(callee, arrivalMs - this.#simulation.nowMs, () => {
      const answer = (run: () => void) => {
        callee.forget(call)
        if (this.isCut(caller.machine, callee.machine) || lose('the response is lost', responseLost)) breakOff()
        else settle(run)
      }
      call.execute(false).then(
        (response) => answer(() => resolve(response)),
        (error: unknown) => answer(() => reject(error)),
      )
    })
    // A process that ends answers nothing, and its machine closes the connection.
    callee.onCrash(call, () => settle(() => reject(new ConnectionBrokenError())))
  }

  /** Messages to a process are events of that process, also when it has crashed meanwhile: then nothing happens. */
  #deliver(caller: SimulatedProcess, random: SeededRandom, run: () => void): void {
    this.#simulation.schedule(caller, this.#delayMs(random), run)
  }

  #delayMs(random: SeededRandom): number {
    if (random.below(1_000) < this.faults.slow) return random.below(SLOW_MS)
    return random.below(LATENCY_US) / 1_000
  }

  #randomOf(caller: SimulatedProcess, callee: SimulatedProcess): SeededRandom {
    const link = `${caller.name} ${callee.name}`
    const random = this.#random.get(link) ?? this.#simulation.randomOf(link)
    this.#random.set(link, random)
    return random
  }
}

function pair(left: string, right: string): string {
  return [left, right].sort().join(' | ')
}
