import { messageOf } from '../../src/common/errors.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { currentProcess } from './current-process.ts'
import { type Failure, summarize } from './failure.ts'
import { recordRealOperations } from './real-operations.ts'
import { Simulation } from './simulation.ts'
import { printTimeline, type Timeline } from './timeline.ts'
import { installVirtualGlobals } from './virtual-globals.ts'
import { type Step, Violation, type World } from './world.ts'

export type History = {
  readonly seed: number
  readonly steps: readonly Step[]
  readonly events: number
  readonly timeline: Timeline
  readonly failure?: Failure
}

/** The steps of a seed. */
export function planOf(world: World, seed: number): readonly Step[] {
  return world.plan(new SeededRandom(seed))
}

/** Runs one history: that of the seed, or a part of its steps. Not to be called before the previous one has ended. */
export async function runHistory(world: World, seed: number, steps = planOf(world, seed)): Promise<History> {
  prepare()
  const simulation = new Simulation(seed)
  const failure = await world.run(simulation, steps).then(() => undefined, toFailure)
  simulation.end()
  const { events, timeline } = simulation
  return { seed, steps, events, timeline, ...(failure && { failure }) }
}

function toFailure(error: unknown): Failure {
  if (error instanceof Violation) return { kind: 'violation', message: error.message }
  return { kind: 'error', message: error instanceof Error ? (error.stack ?? error.message) : messageOf(error) }
}

let isPrepared = false

function prepare(): void {
  if (isPrepared) return
  isPrepared = true
  installVirtualGlobals()
  // An error that nothing handles would end the program. Of a history that has ended, nothing is reported.
  process.on('unhandledRejection', (error) => {
    const owner = currentProcess()
    if (owner === undefined) throw error
    owner.fail(error)
  })
}

type Shrunk = {
  readonly shortest: History
  /** Other failures that parts of the steps led to. */
  readonly others: ReadonlySet<string>
}

/**
 * Removes steps as long as the history still fails in the same way, and returns the shortest that was found: first halves, then quarters, down
 * to single steps (delta debugging). It ends after a number of events, because those that do not settle have many.
 */
async function shrink(world: World, failed: History, failure: Failure, eventsMax = 2_000_000): Promise<Shrunk> {
  const others = new Set<string>()
  let shortest = failed
  let events = 0
  for (let parts = 2; shortest.steps.length > 0 && events < eventsMax; ) {
    const size = Math.ceil(shortest.steps.length / parts)
    let found: History | undefined
    for (let from = 0; from < shortest.steps.length && found === undefined && events < eventsMax; from += size) {
      const rest = shortest.steps.filter((_, at) => at < from || at >= from + size)
      const history = await runHistory(world, failed.seed, rest)
      events += history.events
      if (history.failure === undefined) continue
      if (summarize(history.failure) === summarize(failure)) found = history
      else others.add(`seed ${failed.seed} with ${rest.length} steps: ${summarize(history.failure)}`)
    }
    if (found) {
      shortest = found
      parts = Math.max(2, parts - 1)
    } else if (size === 1) break
    else parts = Math.min(shortest.steps.length, parts * 2)
  }
  return { shortest, others }
}

export type Explanation = {
  /** Of the same history, run twice. */
  readonly digests: readonly string[]
  /** What simulated processes did outside of the simulation. Anything makes a history depend on the machine. */
  readonly operations: readonly string[]
  /** The shortest history that fails in the same way, for a person. */
  readonly text: string
}

/** Runs a history twice and, if it fails, shortens it. */
export async function explainHistory(world: World, seed: number): Promise<Explanation> {
  const first = await runHistory(world, seed)
  const { result: second, operations } = await recordRealOperations(() => runHistory(world, seed))
  const { shortest, others } = first.failure
    ? await shrink(world, first, first.failure)
    : { shortest: first, others: [] }
  const { steps, failure, events, timeline } = shortest
  const text = [
    `${world.name} seed ${seed}, shortened from ${first.steps.length} to ${steps.length} steps and ${events} events:`,
    ...steps.map((step) => `  ${JSON.stringify(step)}`),
    ...[...others].map((other) => `another failure while it was shortened: ${other}`),
    printTimeline(timeline),
    failure === undefined ? 'no violation' : `${failure.kind}: ${failure.message}`,
  ].join('\n')
  return { digests: [first.timeline.digest, second.timeline.digest], operations, text }
}
