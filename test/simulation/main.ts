import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { CompletedSeeds } from './completed-seeds.ts'
import { HistoryProcess, type HistorySource, type Outcome } from './history-process.ts'
import { MUTATIONS } from './mutations.ts'
import { foundFile, mutationFile, recordHistory } from './recorded-history.ts'
import { explainFailure, runHistories } from './run-histories.ts'
import { printTimeline } from './timeline.ts'
import { WORLDS } from './worlds/worlds.ts'

const USAGE =
  'npm run simulate -- [--world NAME]... [--seed N | --seeds FROM..TO] [--minutes M] [--timeline] [--mutation NAME] [--record] [--processes N]'

/** `npm run simulate`: histories of the programs in simulated machine rooms, from seeds. */
const { values } = parseArgs({
  options: {
    world: { type: 'string', multiple: true },
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    timeline: { type: 'boolean', default: false },
    mutation: { type: 'string' },
    record: { type: 'boolean', default: false },
    processes: { type: 'string' },
  },
})
const mutation = MUTATIONS.find(({ name }) => name === values.mutation)
if (values.mutation !== undefined && mutation === undefined)
  endWithUsage(`--mutation is one of ${MUTATIONS.map(({ name }) => name).join(', ')}`)
const worlds = values.world ?? (mutation ? [mutation.world] : Object.keys(WORLDS))
for (const world of worlds)
  if (WORLDS[world] === undefined) endWithUsage(`--world is one of ${Object.keys(WORLDS).join(', ')}, not ${world}`)
const minutes = values.minutes === undefined ? undefined : Number(values.minutes)
if (minutes !== undefined && !(minutes > 0)) endWithUsage(`--minutes is a positive number, not ${values.minutes}`)
const [first, last] = seedsOf(
  values.seeds ?? (values.seed === undefined ? undefined : `${values.seed}..${values.seed}`),
)
const processes = Number(values.processes ?? availableParallelism())
if (!(Number.isInteger(processes) && processes > 0)) endWithUsage(`--processes is a number, not ${values.processes}`)

/** More are only counted. */
const EXPLAINED_MAX = 3
const PROGRESS_HISTORIES = 100

// The histories that run are completed, and the summary says with which seed to continue.
let isInterrupted = false
process.once('SIGINT', () => {
  isInterrupted = true
})

for (const world of worlds) {
  if (isInterrupted) break
  if (values.timeline) await showTimeline({ world, mutation })
  else await simulate({ world, mutation })
}

async function simulate(source: HistorySource): Promise<void> {
  const { world } = source
  const endMs = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
  const failures: Outcome[] = []
  const totals = { histories: 0, events: 0, cpuMs: 0 }
  const seeds = new CompletedSeeds(first)
  await runHistories(source, seedsFrom(first, last), {
    processes: Math.min(processes, last - first + 1),
    isDone: () => isInterrupted || Date.now() >= endMs,
    onOutcome: (outcome) => {
      const { seed, failure, events, cpuMs } = outcome
      seeds.add(seed)
      totals.histories += 1
      totals.events += events
      totals.cpuMs += cpuMs
      if (failure) {
        failures.push(outcome)
        progress(`${world} seed ${seed}: ${failure.kind}: ${firstLine(failure.message)}`)
      }
      if (totals.histories % PROGRESS_HISTORIES === 0)
        progress(`${world}: ${totals.histories} histories, ${failures.length} failed, complete before ${seeds.next}`)
    },
  })
  const explained = failures.toSorted((left, right) => left.seed - right.seed).slice(0, EXPLAINED_MAX)
  for (const failure of explained) {
    const explanation = await explainFailure(source, failure)
    console.log(explanation)
    if (values.record) {
      const file = mutation ? mutationFile(mutation) : foundFile(world, failure.seed)
      recordHistory(file, mutation?.fault ?? 'Not explained yet.', explanation)
    }
  }
  console.log(summaryOf(world, totals, failures))
  if (values.seeds !== undefined && seeds.next <= last)
    progress(`${world}: continue with --world ${world} --seeds ${seeds.next}..${last}`)
  if (failures.length > 0) process.exitCode = 1
}

async function showTimeline(source: HistorySource): Promise<void> {
  const child = new HistoryProcess(source)
  try {
    for (const seed of seedsFrom(first, last)) {
      const { entries = [], failure, digest, events } = await child.show(seed)
      console.log(printTimeline({ entries }))
      const outcome = failure ? `${failure.kind}: ${failure.message}` : 'no violation'
      console.log(`${source.world} seed ${seed}: ${events} events, digest ${digest}, ${outcome}`)
      if (failure) process.exitCode = 1
    }
  } finally {
    await child.stop()
  }
}

type Totals = Readonly<Record<'histories' | 'events' | 'cpuMs', number>>

function summaryOf(world: string, { histories, events, cpuMs }: Totals, failures: readonly Outcome[]): string {
  return [
    `${world}: ${histories} histories`,
    `${events} events`,
    `${Math.round((histories * 60_000) / cpuMs)} histories a minute per core`,
    `${failures.length} failed${failures.length > 0 ? `: seeds ${failures.map(({ seed }) => seed).join(' ')}` : ''}`,
  ].join(', ')
}

function* seedsFrom(from: number, to: number): Iterable<number> {
  for (let seed = from; seed <= to; seed += 1) yield seed
}

/** Default: 500, or as many as there is time for. */
function seedsOf(range: string | undefined): readonly [first: number, last: number] {
  if (range === undefined) return [1, minutes === undefined ? 500 : Number.MAX_SAFE_INTEGER]
  const [from = Number.NaN, to = Number.NaN] = range.split('..').map(Number)
  if (!(Number.isInteger(from) && Number.isInteger(to) && from <= to)) endWithUsage(`${range} is not FROM..TO`)
  return [from, to]
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`)
}

function endWithUsage(problem: string): never {
  process.stderr.write(`${problem}: ${USAGE}\n`)
  process.exit(2)
}
