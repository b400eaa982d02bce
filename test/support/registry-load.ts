import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Registered, RegistryClient } from '../../src/clients/registry-client.ts'

/** An Avro record without fields. */
export function schemaOf(name: string): { schema: string } {
  return { schema: JSON.stringify({ type: 'record', name, fields: [] }) }
}

/** Clients that continuously register new schemas, one request at a time each, and retry retriable errors. */
export class RegistrationLoad {
  readonly acknowledged = new Map<string, Registered>()
  lastMs = performance.now()
  longestPauseMs = 0
  #stopped = false
  readonly #prefix: string
  readonly #running: Promise<unknown>

  /** `prefix`: prefix of all subject names. */
  constructor(clients: readonly RegistryClient[], prefix = 's') {
    this.#prefix = prefix
    this.#running = Promise.all(clients.map((client, at) => this.#run(client, at)))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #run(client: RegistryClient, at: number): Promise<void> {
    for (let number = 0; !this.#stopped; number++) {
      const subject = `${this.#prefix}-${at}-${number}`
      const registered = await this.#register(client, subject)
      if (!registered) return
      this.acknowledged.set(subject, registered)
      const nowMs = performance.now()
      this.longestPauseMs = Math.max(this.longestPauseMs, nowMs - this.lastMs)
      this.lastMs = nowMs
    }
  }

  async #register(client: RegistryClient, subject: string): Promise<Registered | undefined> {
    while (!this.#stopped) {
      try {
        return await client.register(subject, schemaOf(subject.replaceAll('-', '_')))
      } catch (error) {
        if ((error as { retriable?: boolean }).retriable !== true) throw error
        await sleep(20)
      }
    }
    return undefined
  }
}

/** Asserts that each acknowledged registration is visible to all clients and that no id was assigned twice. */
export async function expectUniqueIds(load: RegistrationLoad, clients: readonly RegistryClient[]): Promise<void> {
  const ids = [...load.acknowledged.values()].map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const [subject, { id }] of load.acknowledged) {
    for (const client of clients) expect(await client.latest(subject)).toMatchObject({ id })
  }
}
