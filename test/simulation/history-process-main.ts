import type { HistoryProcessArguments, HistoryRequest, HistoryResponse } from './history-process.ts'

// The process in which `HistoryProcess` runs histories. It loads everything later than a mutation, so that this applies to all files.
const { table, world: name, mutation }: HistoryProcessArguments = JSON.parse(process.argv[2]!)
const assertMutated = mutation && (await import('./source-mutation.ts')).mutateSource(mutation)
const { explainHistory, runHistory } = await import('./history.ts')
const { WORLDS } = (await import(table)) as typeof import('./worlds/worlds.ts')
const world = await WORLDS[name]!()

process.on('message', (request: HistoryRequest) => {
  respond(request).then(
    (response) => process.send!(response),
    // An error of the simulator itself: the exit code tells the parent.
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.once('disconnect', () => process.exit())
// A terminal sends it to the parent too, which ends this process after its history.
process.on('SIGINT', () => undefined)

async function respond({ do: what, seed, steps }: HistoryRequest): Promise<HistoryResponse> {
  if (what === 'explain') return explainHistory(world, seed)
  const before = process.cpuUsage()
  const { events, failure, timeline } = await runHistory(world, seed, steps)
  const { user, system } = process.cpuUsage(before)
  assertMutated?.()
  const { digest, entries } = timeline
  return {
    seed,
    events,
    digest,
    cpuMs: (user + system) / 1_000,
    ...(failure && { failure }),
    ...(what === 'show' && { entries }),
  }
}
