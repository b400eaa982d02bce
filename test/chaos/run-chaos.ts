import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../../src/broker/broker.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { beginFault } from './begin-fault.ts'
import { NAMES } from './chaos-cluster.ts'
import type { ChaosOutcome, CopiedLines, StepOutcome } from './chaos-report.ts'
import { ChaosSystem, SESSION_TIMEOUT_MS } from './chaos-system.ts'
import { describeFault, type Schedule, type Step } from './fault-schedule.ts'
import { parseLine } from './line-load.ts'
import { LineSequence } from './line-sequence.ts'

const POLL_MS = 250
const RECOVERY_MS_MAX = 2 * SESSION_TIMEOUT_MS
/** A recovery that exceeds its limit is observed for this time, so that the report can say how long it took. */
const OBSERVED_MS_MAX = 60_000
const READ_WAIT_MS = 1_000

export type ChaosOptions = {
  readonly minutes: number
  readonly progress: (line: string) => void
  /** Directory for copies of the programs' logs. */
  readonly logs: string | undefined
}

/** Starts the system, causes the faults of the schedule, and checks what is left. Stops everything. */
export async function runChaos(schedule: Schedule, options: ChaosOptions): Promise<ChaosOutcome> {
  const { minutes, progress, logs } = options
  const system = await ChaosSystem.start(schedule)
  try {
    progress(`full disk: ${system.cluster.diskDescription}; clock jump: ${system.clockSource.description}`)
    const start = await untilWorking(system)
    if (start.lacking !== undefined)
      throw new Error(`the system does not work before the first fault: ${start.lacking}`)
    const steps: StepOutcome[] = []
    const beginMs = performance.now()
    for (const step of schedule.steps) {
      await sleep(Math.max(0, beginMs + step.atMs - performance.now()))
      steps.push(await runStep(system, step, { ...options, beginMs }))
    }
    return { schedule, minutes, steps, ...(await check(system)) }
  } finally {
    await system.stop()
    if (logs !== undefined) system.copyLogs(join(logs, `seed-${schedule.seed}`))
  }
}

async function runStep(
  system: ChaosSystem,
  step: Step,
  { beginMs, progress }: ChaosOptions & { readonly beginMs: number },
): Promise<StepOutcome> {
  const beganMs = performance.now() - beginMs
  await Promise.all(
    step.faults.map(async (fault) => {
      progress(`${inSeconds(performance.now() - beginMs)}  ${describeFault(fault)}`)
      const end = await beginFault(fault, system)
      await sleep(fault.ms)
      await end()
    }),
  )
  progress(`${inSeconds(performance.now() - beginMs)}  end`)
  // A task without a right has failed, as in Kafka Connect, and stays so.
  const isRevoked = step.faults.some(({ kind }) => kind === 'ACL revoked')
  const restartedTasks = isRevoked ? await system.restartFailedTasks() : 0
  const { recoveryMs, lacking } = await untilWorking(system)
  progress(`${inSeconds(performance.now() - beginMs)}  ${lacking ?? `recovered in ${inSeconds(recoveryMs).trim()}`}`)
  return { step, beganMs, recoveryMs, lacking, restartedTasks }
}

/**
 * Polls until everything works, and returns what did not work at the limit. Polls are counted, not time, so that a machine
 * that is too busy to run the programs has a longer limit.
 */
async function untilWorking(
  system: ChaosSystem,
): Promise<{ readonly recoveryMs: number; readonly lacking: string | undefined }> {
  const since = { timeMs: performance.now(), lines: system.lines.written }
  let late: string | undefined
  for (let polls = 0; ; polls++) {
    const pollMs = performance.now()
    const lacking = await system.lacking(since)
    const recoveryMs = performance.now() - since.timeMs
    if (polls * POLL_MS >= RECOVERY_MS_MAX) late ??= lacking
    if (lacking === undefined || polls * POLL_MS >= OBSERVED_MS_MAX) return { recoveryMs, lacking: late }
    await sleep(Math.max(0, pollMs + POLL_MS - performance.now()))
  }
}

async function check(system: ChaosSystem) {
  system.lines.stopWriting()
  const end = await untilWorking(system)
  await system.schemas.stop()
  const log = silentLogger()
  const config = { 'bootstrap.servers': system.cluster.bootstrap }
  const broker = await openBroker({ kind: 'kafka', config }, { logger: log })
  try {
    const { lines } = system
    const programs = system.programs.flatMap(({ findings }) => findings)
    return {
      schemas: await checkSchemas(system, broker),
      topics: await Promise.all(NAMES.topics.map((topic) => checkTopic(broker, topic, lines.written))),
      sinks: [...lines.copied].map(([topic, copied]) => countsOf(`the sink, from ${topic}`, copied, lines.written)),
      findings: [
        ...(end.lacking === undefined ? [] : [`at the end: ${end.lacking}`]),
        ...programs,
        ...system.schemas.findings,
      ],
    }
  } finally {
    await broker.close()
  }
}

/** Compares what was acknowledged with the responses of each instance, and the ids with the topic. */
async function checkSchemas({ schemas, registries }: ChaosSystem, broker: Broker): Promise<ChaosOutcome['schemas']> {
  const lost: string[] = []
  for (const { name, url } of registries) {
    const found = new Map((await schemasOf(url)).map(({ subject, id }) => [subject, id]))
    for (const [subject, id] of schemas.acknowledged) {
      if (found.get(subject) !== id) lost.push(`${subject} with id ${id}; ${name} has ${found.get(subject) ?? 'none'}`)
    }
  }
  const textsOf = new Map<number, Set<string>>()
  for await (const { value } of readTopic(broker, NAMES.schemas)) {
    const { id, schema } = JSON.parse(String(value ?? '{}')) as { readonly id?: number; readonly schema?: string }
    if (id === undefined || schema === undefined) continue
    textsOf.set(id, (textsOf.get(id) ?? new Set()).add(schema))
  }
  const repeatedIds = [...textsOf]
    .filter(([, texts]) => texts.size > 1)
    .map(([id, texts]) => `${id}: ${[...texts].join(' ')}`)
  return { acknowledged: schemas.acknowledged.size, ids: textsOf.size, lost, repeatedIds }
}

type ListedSchema = { readonly subject: string; readonly id: number }

async function schemasOf(url: string): Promise<readonly ListedSchema[]> {
  const all: ListedSchema[] = []
  for (;;) {
    const page = (await (await fetch(`${url}/schemas?offset=${all.length}`)).json()) as readonly ListedSchema[]
    if (page.length === 0) return all
    all.push(...page)
  }
}

async function checkTopic(broker: Broker, topic: string, written: number): Promise<CopiedLines> {
  const sequence = new LineSequence()
  for await (const { value } of readTopic(broker, topic)) {
    const line = parseLine(String(value))
    if (line?.topic === topic) sequence.observe(line.number)
  }
  return countsOf(topic, sequence, written)
}

/** All committed records of a topic with one partition. */
async function* readTopic(broker: Broker, topic: string) {
  const isolation = 'read_committed'
  const [end] = await broker.topics.offsets(topic, 'latest', isolation)
  const reader = broker.reader({ isolation })
  reader.seek([{ topic, partition: 0, offset: 0 }])
  try {
    for (let position = 0; position < end!.offset; ) {
      for (const { records, nextOffset } of await reader.poll(READ_WAIT_MS)) {
        yield* records
        position = nextOffset
      }
    }
  } finally {
    await reader.close()
  }
}

function countsOf(place: string, sequence: LineSequence, written: number): CopiedLines {
  const { repeated, displaced } = sequence
  return { place, written, missing: sequence.missing(written), repeated, displaced }
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1).padStart(6)} s`
}
