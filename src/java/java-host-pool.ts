import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HostAddress } from './host-connection.ts'
import type { HostLogLine, LogLevelSource } from './host-log.ts'
import { hostAddress, JavaHost } from './java-host.ts'
import type { JavaRuntime } from './java-runtime.ts'
import type { JavaPluginLocation } from './plugin-location.ts'

export type JavaHostPoolOptions = {
  readonly runtime: JavaRuntime
  /** How long a JVM without users is kept, in ms. */
  readonly idleMs: number
  readonly startMsMax: number
  readonly onLog: (location: JavaPluginLocation, line: HostLogLine) => void
  /** The levels of the loggers in all JVMs. */
  readonly logLevels: LogLevelSource
}

/** Permission to use a host. Its JVM runs until all leases are released, unless it crashes. */
export type HostLease = {
  readonly address: HostAddress
  /** Resolves when the JVM has exited, to the end of a sentence such as "was ended by SIGKILL". */
  readonly ended: Promise<string>
  release(): void
  /** Releases the lease of a JVM in which plugin code does not return: it gets no further users, and ends with its last one. */
  abandon(): void
}

/** One JVM, from its start to its end. */
type Running = {
  readonly host: Promise<JavaHost>
  leases: number
  /** Whether plugin code in it does not return. */
  isStuck: boolean
  idleTimer: NodeJS.Timeout | undefined
}

type Slot = {
  readonly location: JavaPluginLocation
  readonly address: HostAddress
  /** The JVM for new users. */
  current: Running | undefined
  /** Resolves when the JVM that was stopped last has exited. Until then, it may remove the socket of the next one. */
  stopped: Promise<void>
}

/**
 * The JVMs of a worker: one for each plugin location that is in use, and those in which plugin code does not return, until
 * their last user releases them. Sockets are in a directory of this process only.
 */
export class JavaHostPool {
  readonly #options: JavaHostPoolOptions
  readonly #slots = new Map<string, Slot>()
  readonly #running = new Set<Running>()
  /** Created on first use, so that a worker without Java plugins creates no directory. */
  #directory: string | undefined
  #isClosed = false
  #exits = 0

  constructor(options: JavaHostPoolOptions) {
    this.#options = options
    options.logLevels.onChange((changed) => {
      for (const { host } of this.#running) {
        host.then(
          (started) => started.setLevels(changed),
          () => undefined,
        )
      }
    })
  }

  /** The socket address of a location's host. A restarted host listens at the same address. */
  addressOf(location: JavaPluginLocation): HostAddress {
    return this.#slotOf(location).address
  }

  /** Number of JVMs that have ended although they were in use. */
  get exits(): number {
    return this.#exits
  }

  /** The addresses of the hosts that are in use. */
  get addressesInUse(): readonly HostAddress[] {
    const slots = [...this.#slots.values()]
    return slots.flatMap(({ current, address }) => (current !== undefined && current.leases > 0 ? [address] : []))
  }

  /** Starts the JVM if it does not run. Rejects with a `UserError` that states why it does not start. */
  async lease(location: JavaPluginLocation): Promise<HostLease> {
    if (this.#isClosed) throw new Error('the worker is stopping')
    const slot = this.#slotOf(location)
    const running = slot.current ?? this.#start(slot)
    clearTimeout(running.idleTimer)
    running.leases += 1
    try {
      const { ended } = await running.host
      return { address: slot.address, ended, ...this.#handle(slot, running) }
    } catch (error) {
      running.leases -= 1
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const running = [...this.#running]
    for (const { idleTimer } of running) clearTimeout(idleTimer)
    await Promise.all(running.map(async ({ host }) => (await host.catch(() => undefined))?.stop()))
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true })
  }

  #slotOf(location: JavaPluginLocation): Slot {
    const known = this.#slots.get(location.path)
    if (known !== undefined) return known
    this.#directory ??= mkdtempSync(join(tmpdir(), 'weir-java-'))
    const address = hostAddress(this.#directory, String(this.#slots.size))
    const slot: Slot = { location, address, current: undefined, stopped: Promise.resolve() }
    this.#slots.set(location.path, slot)
    return slot
  }

  #start(slot: Slot): Running {
    const { runtime, startMsMax, onLog, logLevels } = this.#options
    const { location, address } = slot
    const host = slot.stopped.then(() =>
      JavaHost.start({
        runtime,
        location,
        address,
        startMsMax,
        levels: logLevels.current(),
        onLog: (line) => onLog(location, line),
        onStuck: () => this.#setStuck(slot, running),
      }),
    )
    const running: Running = { host, leases: 0, isStuck: false, idleTimer: undefined }
    slot.current = running
    this.#running.add(running)
    const forget = () => {
      if (slot.current === running) slot.current = undefined
      this.#running.delete(running)
    }
    const countExit = () => {
      if (running.leases > 0 && !this.#isClosed) this.#exits += 1
      forget()
    }
    host.then(({ ended }) => ended.then(countExit), forget)
    return running
  }

  #handle(slot: Slot, running: Running): Pick<HostLease, 'release' | 'abandon'> {
    let isOver = false
    const release = () => {
      if (isOver) return
      isOver = true
      running.leases -= 1
      this.#endIfUnused(slot, running)
    }
    const abandon = () => {
      this.#setStuck(slot, running)
      release()
    }
    return { release, abandon }
  }

  /** Keeps new users away, who get another JVM, so that at most one call does not return in each. */
  #setStuck(slot: Slot, running: Running): void {
    running.isStuck = true
    if (slot.current === running) slot.current = undefined
    this.#endIfUnused(slot, running)
  }

  #endIfUnused(slot: Slot, running: Running): void {
    if (running.leases > 0) return
    clearTimeout(running.idleTimer)
    const { idleMs } = this.#options
    const end = running.isStuck ? () => killHost(running) : () => stopIdle(slot, running)
    running.idleTimer = setTimeout(() => void end(), running.isStuck ? 0 : idleMs).unref()
  }
}

async function killHost({ host }: Running): Promise<void> {
  ;(await host.catch(() => undefined))?.kill()
}

async function stopIdle(slot: Slot, running: Running): Promise<void> {
  if (running.leases > 0) return
  if (slot.current === running) slot.current = undefined
  slot.stopped = running.host.then(
    (host) => host.stop(),
    () => undefined,
  )
  await slot.stopped
}
