import { setTimeout as sleep } from 'node:timers/promises'
import { packageVersion } from '../../../src/common/package-version.ts'
import { checkAnswer } from '../../support/worker-openapi.ts'
import { type Allowance, ANSWERS, RECORDS } from './allowances.ts'
import { type Answer, ask } from './asking.ts'
import { type Exchange, exchanges, type TopicRecord, type TopicStep, topicSteps } from './recording.ts'
import type { TopicLog } from './topic-log.ts'
import { type TopicView, viewKey, viewOf } from './topic-view.ts'

const WORKER = '127.0.0.1:23483'
const VERSION = '4.3.1'
const WAIT = { everyMs: 50, timeoutMs: 120_000 }
/** Methods that OpenAPI cannot describe, or to which the server itself responds. */
const BEYOND_THE_DOCUMENT: ReadonlySet<string> = new Set(['HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'])
/** The replay stops after this number of differences. */
const DIFFERENCES_MAX = 10

/** Sends the recorded requests to a worker, in order, and compares responses and topics. */
export class Replay {
  /** Descriptions with the recorded and the actual content. */
  readonly differences: string[] = []
  readonly #used = new Set<Allowance>()
  readonly #url: string
  readonly #log: TopicLog
  readonly #exchanges: readonly Exchange[]
  readonly #steps: readonly TopicStep[]

  constructor(url: string, log: TopicLog) {
    this.#url = url
    this.#log = log
    this.#exchanges = localize(exchanges(), url)
    this.#steps = localize(topicSteps(), url)
  }

  /** Reasons of allowances that were not needed. */
  get unused(): readonly string[] {
    const unused = [...ANSWERS, ...RECORDS].filter((one) => !one.byChance && !this.#used.has(one))
    return unused.map(({ reason }) => reason)
  }

  async run(): Promise<void> {
    await this.#compareTopics(0)
    for (const exchange of this.#exchanges) {
      await this.#compareAnswer(exchange)
      await this.#compareTopics(exchange.number)
      if (this.differences.length >= DIFFERENCES_MAX) return
    }
  }

  /** A read may return the state before the last write, so GET requests are repeated until the response matches. */
  async #compareAnswer(exchange: Exchange): Promise<void> {
    const { number, section, label, method, path } = exchange
    const problem = await retryCheck(method === 'GET', async () => {
      const ours = await ask(this.#url, exchange)
      if (!BEYOND_THE_DOCUMENT.has(method)) checkAnswer(method, path, ours.status, bodyOf(ours))
      if (isSame(exchange, ours) || this.#allows(ANSWERS, exchange, ours)) return undefined
      return `${number} ${section}: ${label}, ${method} ${path}\n${excerpts(textOf(exchange), textOf(ours))}`
    })
    if (problem) this.differences.push(problem)
    // Ours could delete it; what follows was recorded with it.
    if (method === 'DELETE' && exchange.status === 400) await this.#recreate(path)
  }

  async #recreate(path: string): Promise<void> {
    const name = decodeURIComponent(path.slice('/connectors/'.length))
    const isCreation = ({ method, request }: Exchange) => method === 'POST' && request?.startsWith(`{"name":"${name}"`)
    const creation = this.#exchanges.find(isCreation)
    // What is left of it would be a matter of luck.
    await retryCheck(true, async () => {
      const left = [...viewOf(await this.#log.read()).keys()].filter((key) => key.endsWith(`:connector-${name}`))
      return left.length === 0 ? undefined : `${left.join(', ')} after the deletion of ${name}`
    })
    if (creation) await ask(this.#url, creation)
  }

  async #compareTopics(after: number): Promise<void> {
    const step = this.#steps.find((one) => one.after === after)
    if (!step) return
    const at = this.#steps.indexOf(step)
    const recorded = viewOf(this.#steps.slice(0, at + 1).flatMap(({ records }) => records))
    const later = this.#steps.slice(at + 1).flatMap(({ records }) => records)
    const problem = await retryCheck(true, async () => {
      const lines = this.#differingRecords(recorded, viewOf(await this.#log.read()), later)
      return lines.length === 0 ? undefined : `after '${step.step}':\n${lines.join('\n')}`
    })
    if (problem) this.differences.push(problem)
  }

  #differingRecords(recorded: TopicView, ours: TopicView, later: readonly TopicRecord[]): readonly string[] {
    const keys = [...new Set([...recorded.keys(), ...ours.keys()])]
    return keys.flatMap((key) => {
      const expected = recorded.get(key)
      const found = ours.get(key)
      if (expected === found) return []
      const next = later.find((record) => viewKey(record) === key)?.value ?? undefined
      if (this.#allows(RECORDS, { key, value: expected, next, view: recorded }, found)) return []
      return [`${key}\n${excerpts(String(expected), String(found))}`]
    })
  }

  #allows<Recorded, Ours>(table: readonly Allowance<Recorded, Ours>[], recorded: Recorded, ours: Ours): boolean {
    const allowance = table.find((one) => one.of(recorded) && one.accepts(recorded, ours))
    if (allowance) this.#used.add(allowance as Allowance)
    return allowance !== undefined
  }
}

/** Replaces the address and version in the recording with those of this worker. */
function localize<Lines>(lines: Lines, url: string): Lines {
  const text = JSON.stringify(lines).replaceAll(WORKER, new URL(url).host).replaceAll(VERSION, packageVersion())
  return JSON.parse(text) as Lines
}

/** Repeats a check until it finds no problem or times out, and returns the last problem. */
async function retryCheck(isWaiting: boolean, check: () => Promise<string | undefined>): Promise<string | undefined> {
  const deadline = performance.now() + WAIT.timeoutMs
  let problem = await check()
  while (problem !== undefined && isWaiting && performance.now() < deadline) {
    await sleep(WAIT.everyMs)
    problem = await check()
  }
  return problem
}

/** Additional headers are permitted. */
function isSame(recorded: Answer, ours: Answer): boolean {
  const names = Object.keys(recorded.answerHeaders)
  const hasHeaders = names.every((name) => recorded.answerHeaders[name] === ours.answerHeaders[name])
  return recorded.status === ours.status && hasHeaders && recorded.answer === ours.answer
}

function bodyOf({ answer }: Answer): unknown {
  return answer === '' ? undefined : JSON.parse(answer)
}

function textOf({ status, answerHeaders, answer }: Answer): string {
  return `${status} ${JSON.stringify(answerHeaders)} ${answer}`
}

/** Returns excerpts around the first difference, because responses can be long. */
function excerpts(expected: string, found: string): string {
  const differs = [...expected].findIndex((char, at) => char !== found[at])
  const from = Math.max(0, differs - 200)
  return `  recorded …${expected.slice(from, from + 500)}\n  actual …${found.slice(from, from + 500)}`
}
