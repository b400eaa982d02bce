import { basename } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { summarize } from './failure.ts'
import { HistoryProcess, type HistorySource, type Outcome } from './history-process.ts'
import { MUTATIONS } from './mutations.ts'
import { foundFiles, mutationFile, readRecordedHistory } from './recorded-history.ts'
import { explainFailure, runHistories } from './run-histories.ts'
import type { Step } from './world.ts'
import { WORLDS } from './worlds/worlds.ts'

/** How many histories of each world run, beginning with seed 1: what fits into the time of all tests. */
const SEEDS: Readonly<Record<string, number>> = { operator: 180, registry: 40, worker: 40 }
const SEEDS_OF_OTHER_WORLDS = 15
/** A fault must be found by one of this many seeds. */
const MUTATION_SEEDS = 200

describe.each(Object.keys(WORLDS))('histories of the world %s', { tags: ['slow'] }, (world) => {
  const count = Number(process.env['WEIR_SIMULATION_SEEDS'] ?? SEEDS[world] ?? SEEDS_OF_OTHER_WORLDS)
  let histories: Promise<readonly Outcome[]> | undefined
  const run = () => {
    histories ??= untilFailure({ world }, seeds(1, count))
    return histories
  }

  it('keep all promises', async () => {
    const failed = (await run()).find(({ failure }) => failure)
    expect(failed && (await explainFailure({ world }, failed))).toBeUndefined()
  })

  it('are the same in another process, and use nothing outside of the simulation', async () => {
    // In the first process, others were run before it.
    const { seed, digest } = (await run()).at(-1)!
    const other = new HistoryProcess({ world })
    onTestFinished(() => other.stop())
    const { digests, operations } = await other.explain(seed)
    expect(digests).toEqual([digest, digest])
    expect(operations).toEqual([])
  })
})

describe('a fault made by hand', { tags: ['slow'] }, () => {
  it.each(MUTATIONS)('is found: $name', async (mutation) => {
    const source = { world: mutation.world, mutation }
    const recorded = readRecordedHistory(mutationFile(mutation))
    expect(recorded).toMatchObject({ world: mutation.world, seed: mutation.seed })
    const { steps, violation } = recorded
    const { failure } = await replay(source, mutation.seed, steps)
    if (failure) expect(summarize(failure)).toBe(summarize({ kind: 'violation', message: violation }))
    // The programs have changed since, so that this history is another one.
    else {
      const histories = await untilFailure(source, [mutation.seed, ...seeds(1, MUTATION_SEEDS)])
      expect(histories.find((history) => history.failure)?.failure?.kind).toBe('violation')
    }
  })
})

describe('a history that broke a promise', { tags: ['slow'] }, () => {
  const processes = new Map<string, HistoryProcess>()
  afterAll(() => Promise.all([...processes.values()].map((child) => child.stop())))

  it.each(foundFiles().map((file) => [basename(file), file]))('keeps it now: %s', async (_, file) => {
    const { world, seed, steps } = readRecordedHistory(file)
    const child = processes.get(world) ?? new HistoryProcess({ world })
    processes.set(world, child)
    expect((await child.run(seed, steps)).failure).toBeUndefined()
  })
})

async function replay(source: HistorySource, seed: number, steps: readonly Step[]): Promise<Outcome> {
  const child = new HistoryProcess(source)
  try {
    return await child.run(seed, steps)
  } finally {
    await child.stop()
  }
}

async function untilFailure(source: HistorySource, among: Iterable<number>): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  const isDone = () => outcomes.at(-1)?.failure !== undefined
  // One process: the other tests use the other processors.
  await runHistories(source, among, { processes: 1, onOutcome: (outcome) => outcomes.push(outcome), isDone })
  return outcomes
}

function* seeds(first: number, last: number): Iterable<number> {
  for (let seed = first; seed <= last; seed += 1) yield seed
}
