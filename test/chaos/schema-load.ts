import { setTimeout as sleep } from 'node:timers/promises'
import { RequestError } from '../../src/clients/http-client.ts'
import { createRegistryClient, type RegistryClient } from '../../src/clients/registry-client.ts'

const PAUSE_MS = 20
const RETRY_PAUSE_MS = 100
const REQUEST_TIMEOUT_MS = 10_000
const FINDINGS_MAX = 20
const LAST_ATTEMPTS_MAX = 100

type Instance = { readonly url: string; readonly client: RegistryClient; lastSentMs: number }

/** Registers schemas at each instance of the registry, one after the other, and reads each back. */
export class SchemaLoad {
  /** Id of each acknowledged schema, by its subject. */
  readonly acknowledged = new Map<string, number>()
  readonly findings: string[] = []
  readonly #instances: readonly Instance[]
  readonly #running: Promise<unknown>
  #isStopping = false

  constructor(urls: readonly string[]) {
    this.#instances = urls.map((url) => ({
      url,
      client: createRegistryClient({ url, timeoutMs: REQUEST_TIMEOUT_MS }),
      lastSentMs: 0,
    }))
    this.#running = Promise.all(this.#instances.map((instance, at) => this.#write(instance, at)))
  }

  /** Instances that have acknowledged no write that was sent after this time. */
  silentSince(timeMs: number): readonly string[] {
    return this.#instances.filter(({ lastSentMs }) => lastSentMs < timeMs).map(({ url }) => url)
  }

  /**
   * Ends the load with a write at each instance. One that does not lead reads later what others have acknowledged; it has read all of it
   * when it acknowledges a write of its own.
   */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#running
    for (const [at, instance] of this.#instances.entries()) {
      const id = await this.#register(instance, `end-${at}`, LAST_ATTEMPTS_MAX)
      if (id === undefined) this.#add(`${instance.url} acknowledged no write at the end`)
    }
  }

  async #write(instance: Instance, at: number): Promise<void> {
    for (let number = 0; !this.#isStopping; number++) {
      const subject = `s-${at}-${number}`
      const id = await this.#register(instance, subject)
      if (id === undefined) return
      this.acknowledged.set(subject, id)
      await this.#readBack(instance, subject, id)
      await sleep(PAUSE_MS)
    }
  }

  /** At least `attemptsMin` times, and until the load stops. */
  async #register(instance: Instance, subject: string, attemptsMin = 0): Promise<number | undefined> {
    for (let attempt = 0; attempt < attemptsMin || !this.#isStopping; attempt++) {
      const sentMs = performance.now()
      try {
        const { id } = await instance.client.register(subject, schemaOf(subject))
        instance.lastSentMs = sentMs
        return id
      } catch (error) {
        this.#judge(error, `${instance.url} rejected the write of ${subject}`)
        await sleep(RETRY_PAUSE_MS)
      }
    }
    return undefined
  }

  /** An instance that has acknowledged a write shows it from then on. */
  async #readBack({ client, url }: Instance, subject: string, id: number): Promise<void> {
    try {
      const read = await client.latest(subject)
      if (read.id !== id) this.#add(`${url} assigned ${id} to ${subject} and then returned ${read.id}`)
    } catch (error) {
      this.#judge(error, `${url} did not return ${subject}, which it had acknowledged`)
    }
  }

  /** Being unavailable is what faults do; another answer is wrong. */
  #judge(error: unknown, what: string): void {
    if (error instanceof RequestError && error.retriable) return
    this.#add(`${what}: ${String(error)}`)
  }

  #add(finding: string): void {
    if (this.findings.length < FINDINGS_MAX) this.findings.push(finding)
  }
}

/** An Avro record without fields, of its own for each subject. */
export function schemaOf(subject: string): { readonly schema: string } {
  return { schema: JSON.stringify({ type: 'record', name: subject.replaceAll('-', '_'), fields: [] }) }
}
