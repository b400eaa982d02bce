import { messageOf } from '../../../../src/common/errors.ts'
import { HttpAgent, readText } from '../../../../src/common/http-agent.ts'
import { ConnectionRefusedError } from '../../network.ts'
import type { SimulatedProcess } from '../../simulated-process.ts'
import { Violation } from '../../world.ts'
import { contentOf, httpRequestOf, type RegistryRequest } from './registry-request.ts'
import type { Outcome } from './subject-model.ts'

/** A request of a user, and what became of it. */
export type SentRequest = {
  readonly number: number
  readonly request: RegistryRequest
  /** The instance, and how often it had been started. */
  readonly to: string
  readonly calledAt: number
  readonly calledMs: number
  returnedAt: number
  returnedMs: number
  /** Undefined: unknown. */
  outcome: Outcome | undefined
  /** Whether the request certainly had no effect and gives no information. */
  hadNoEffect: boolean
}

/** How long users wait for a response. */
const RESPONSE_MS_MAX = 20_000
/** Codes of responses that say nothing about the state: no leader, or too many requests. */
const WITHOUT_EFFECT: readonly number[] = [50_004, 429]
/** The write may have happened: not acknowledged, timed out, or not answered by the leader. */
const UNKNOWN: readonly number[] = [50_001, 50_002, 50_003]

/** Sends requests and remembers their outcomes, without any wait between them. */
export class RegistryUser {
  readonly process: SimulatedProcess
  readonly sent: SentRequest[] = []
  readonly #agent = new HttpAgent()
  #events = 0
  #running = 0

  constructor(process: SimulatedProcess) {
    this.process = process
  }

  /** How many requests have neither an outcome nor failed. */
  get running(): number {
    return this.#running
  }

  /** `life` distinguishes the processes of an instance. */
  send(instance: string, life: string, request: RegistryRequest): void {
    void this.process
      .run(() => this.request(instance, life, request))
      .catch((error: unknown) => this.process.fail(error))
  }

  /** To be called in its process. */
  async request(instance: string, life: string, request: RegistryRequest): Promise<SentRequest> {
    const { simulation } = this.process
    const sent: SentRequest = {
      number: this.sent.length,
      request,
      to: life,
      calledAt: this.#events++,
      calledMs: simulation.nowMs,
      returnedAt: Number.POSITIVE_INFINITY,
      returnedMs: Number.POSITIVE_INFINITY,
      outcome: undefined,
      hadNoEffect: false,
    }
    this.sent.push(sent)
    this.#running += 1
    const name = `request ${sent.number} to ${instance}`
    simulation.note('user', `${name}: ${JSON.stringify(request)}`)
    try {
      const outcome = await this.#exchange(instance, request)
      if (outcome !== 'unknown') {
        sent.returnedAt = this.#events++
        sent.returnedMs = simulation.nowMs
      }
      if (outcome === 'none') sent.hadNoEffect = true
      else if (outcome !== 'unknown') sent.outcome = outcome
      simulation.note('user', `${name}: ${JSON.stringify(outcome)}`)
    } finally {
      this.#running -= 1
    }
    return sent
  }

  async #exchange(instance: string, request: RegistryRequest): Promise<Outcome | 'none' | 'unknown'> {
    const { method, path, body } = httpRequestOf(request)
    let status: number
    let text: string
    try {
      const response = await this.#agent.send({
        method,
        url: new URL(`http://${instance}:8081`),
        path,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // Users of these histories decide themselves whether to repeat a request.
        isForwarded: true,
        signal: AbortSignal.timeout(RESPONSE_MS_MAX),
      })
      status = response.status
      text = await readText(response)
    } catch (error) {
      if (error instanceof ConnectionRefusedError) return 'none'
      this.process.simulation.note('user', messageOf(error))
      return 'unknown'
    }
    const parsed: unknown = text === '' ? undefined : JSON.parse(text)
    if (status < 300) return { body: withContent(parsed) }
    const { error_code: code } = parsed as { error_code: number }
    if (WITHOUT_EFFECT.includes(code)) return 'none'
    if (UNKNOWN.includes(code)) return 'unknown'
    if (status >= 500 || status === 400 || !REJECTED.includes(status))
      throw new Violation(`${method} ${path} is answered with ${status} ${text}`)
    return { code }
  }
}

const REJECTED: readonly number[] = [404, 409, 422]

/** The number of the content in the place of its text, which is long. */
function withContent(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('schema' in body)) return body
  const { schema, ...rest } = body
  return { ...rest, content: contentOf(String(schema)) }
}
