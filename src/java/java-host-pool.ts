import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HostAddress } from './host-connection.ts'
import type { HostLogLine } from './host-log.ts'
import { hostAddress, JavaHost } from './java-host.ts'
import type { JavaRuntime } from './java-runtime.ts'
import type { JavaPluginLocation } from './plugin-location.ts'

export type JavaHostPoolOptions = {
  readonly runtime: JavaRuntime
  /** How long a JVM without users is kept, in ms. */
  readonly idleMs: number
  readonly startMsMax: number
  readonly onLog: (location: JavaPluginLocation, line: HostLogLine) => void
}

/** Permission to use a host. Its JVM runs until all leases are released, unless it crashes. */
export type HostLease = {
  readonly address: HostAddress
  /** Resolves when the JVM has exited, to the end of a sentence such as "was ended by SIGKILL". */
  readonly ended: Promise<string>
  release(): void
  /** Ends the JVM as soon as no other lease uses it, because plugin code in it does not return. */
  abandon(): void
}

type Slot = {
  readonly location: JavaPluginLocation
  readonly address: HostAddress
  host: Promise<JavaHost> | undefined
  leases: number
  /** Whether the JVM is killed as soon as it is idle, because plugin code in it does not return. */
  isSpoiled: boolean
  idleTimer: NodeJS.Timeout | undefined
}

/** The JVMs of a worker: one for each plugin location that is in use. Sockets are in a directory of this process only. */
export class JavaHostPool {
  readonly #options: JavaHostPoolOptions
  readonly #slots = new Map<string, Slot>()
  /** Created on first use, so that a worker without Java plugins creates no directory. */
  #directory: string | undefined
  #isClosed = false

  constructor(options: JavaHostPoolOptions) {
    this.#options = options
  }

  /** The socket address of a location's host. A restarted host listens at the same address. */
  addressOf(location: JavaPluginLocation): HostAddress {
    return this.#slotOf(location).address
  }

  /** Starts the JVM if it does not run. Rejects with a `UserError` that states why it does not start. */
  async lease(location: JavaPluginLocation): Promise<HostLease> {
    if (this.#isClosed) throw new Error('the worker is stopping')
    const slot = this.#slotOf(location)
    clearTimeout(slot.idleTimer)
    slot.leases += 1
    const starting = slot.host ?? this.#start(slot)
    try {
      const host = await starting
      return { address: slot.address, ended: host.ended, ...this.#handle(slot, starting) }
    } catch (error) {
      slot.leases -= 1
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const slots = [...this.#slots.values()]
    for (const { idleTimer } of slots) clearTimeout(idleTimer)
    await Promise.all(slots.map(async ({ host }) => (await host?.catch(() => undefined))?.stop()))
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true })
  }

  #slotOf(location: JavaPluginLocation): Slot {
    const known = this.#slots.get(location.path)
    if (known !== undefined) return known
    this.#directory ??= mkdtempSync(join(tmpdir(), 'weir-java-'))
    const address = hostAddress(this.#directory, String(this.#slots.size))
    const slot: Slot = { location, address, host: undefined, leases: 0, isSpoiled: false, idleTimer: undefined }
    this.#slots.set(location.path, slot)
    return slot
  }

  #start(slot: Slot): Promise<JavaHost> {
    const { runtime, startMsMax, onLog } = this.#options
    const { location, address } = slot
    const starting = JavaHost.start({ runtime, location, address, startMsMax, onLog: (line) => onLog(location, line) })
    slot.host = starting
    slot.isSpoiled = false
    const forget = () => {
      if (slot.host === starting) slot.host = undefined
    }
    starting.then((host) => host.ended.then(forget), forget)
    return starting
  }

  #handle(slot: Slot, starting: Promise<JavaHost>): Pick<HostLease, 'release' | 'abandon'> {
    let isOver = false
    const release = () => {
      if (isOver) return
      isOver = true
      slot.leases -= 1
      if (slot.leases > 0 || slot.host === undefined) return
      const { idleMs } = this.#options
      slot.idleTimer = setTimeout(() => void stopIdle(slot), slot.isSpoiled ? 0 : idleMs).unref()
    }
    const abandon = () => {
      if (slot.host === starting) slot.isSpoiled = true
      release()
    }
    return { release, abandon }
  }
}

async function stopIdle(slot: Slot): Promise<void> {
  const { host } = slot
  if (slot.leases > 0 || host === undefined) return
  slot.host = undefined
  const running = await host.catch(() => undefined)
  if (slot.isSpoiled) running?.kill()
  else await running?.stop()
}
