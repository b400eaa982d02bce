import { setTimeout as sleep } from 'node:timers/promises'
import type { Registered, RegistryClient } from '../../src/clients/registry-client.ts'

const RETRY_AFTER_MS = 20

/** An Avro record without fields. */
export function schemaOf(name: string): { schema: string } {
  return { schema: JSON.stringify({ type: 'record', name, fields: [] }) }
}

export type RegistrationLoadOptions = {
  /** Prefix of all subject names. */
  readonly prefix?: string
  /** Time between two registrations of a client. Default: none. */
  readonly pauseMs?: number
}

/** Clients that continuously register new schemas, one request at a time each, and retry retriable errors. */
export class RegistrationLoad {
  readonly acknowledged = new Map<string, Registered>()
  lastMs = performance.now()
  longestPauseMs = 0
  #stopped = false
  readonly #options: RegistrationLoadOptions
  /** When each client sent its last request that was acknowledged, and when its last one failed. */
  readonly #lastSentMs: number[]
  readonly #lastFailedMs: number[]
  readonly #running: Promise<unknown>

  constructor(clients: readonly RegistryClient[], options: RegistrationLoadOptions = {}) {
    this.#options = options
    this.#lastSentMs = clients.map(() => 0)
    this.#lastFailedMs = clients.map(() => 0)
    this.#running = Promise.all(clients.map((client, at) => this.#run(client, at)))
    // Reported by `stop`, unless the test has failed earlier.
    this.#running.catch(() => undefined)
  }

  /** Whether each client has an acknowledgement of a request that it sent after this time. */
  hasWrittenSince(timeMs: number): boolean {
    return this.#lastSentMs.every((sentMs) => sentMs > timeMs)
  }

  /** Whether each client has had a request that failed, and that it repeats. */
  hasFailedSince(timeMs: number): boolean {
    return this.#lastFailedMs.every((failedMs) => failedMs > timeMs)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #run(client: RegistryClient, at: number): Promise<void> {
    const { prefix = 's', pauseMs } = this.#options
    for (let number = 0; !this.#stopped; number++) {
      const subject = `${prefix}-${at}-${number}`
      const registered = await this.#register(client, at, subject)
      if (!registered) return
      this.acknowledged.set(subject, registered)
      const nowMs = performance.now()
      this.longestPauseMs = Math.max(this.longestPauseMs, nowMs - this.lastMs)
      this.lastMs = nowMs
      if (pauseMs !== undefined) await sleep(pauseMs)
    }
  }

  async #register(client: RegistryClient, at: number, subject: string): Promise<Registered | undefined> {
    while (!this.#stopped) {
      const sentMs = performance.now()
      try {
        const registered = await client.register(subject, schemaOf(subject.replaceAll('-', '_')))
        this.#lastSentMs[at] = sentMs
        return registered
      } catch (error) {
        if ((error as { retriable?: boolean }).retriable !== true) throw error
        this.#lastFailedMs[at] = performance.now()
        await sleep(RETRY_AFTER_MS)
      }
    }
    return undefined
  }
}

/** Acknowledged registrations that not all clients see as they were acknowledged, and ids that were assigned twice. */
export async function registrationProblems(
  { acknowledged }: RegistrationLoad,
  clients: readonly RegistryClient[],
): Promise<readonly string[]> {
  const problems: string[] = []
  for (const [id, subjects] of Map.groupBy(acknowledged, ([, registered]) => registered.id)) {
    if (subjects.length > 1) problems.push(`the id ${id} was assigned to ${subjects.map(([name]) => name).join(', ')}`)
  }
  for (const [subject, { id }] of acknowledged) {
    for (const client of clients) {
      const read = await client.latest(subject).then((latest) => `id ${latest.id}`, String)
      if (read !== `id ${id}`)
        problems.push(`${subject} was acknowledged with id ${id}, and reading it returns: ${read}`)
    }
  }
  return problems
}
