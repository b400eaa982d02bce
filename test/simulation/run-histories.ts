import { availableParallelism } from 'node:os'
import { HistoryProcess, type HistorySource, type Outcome } from './history-process.ts'

export type RunOptions = {
  /** At most this many at a time. Default: one for each processor. */
  readonly processes?: number
  readonly onOutcome: (outcome: Outcome) => void
  /** No further histories start when it returns true. */
  readonly isDone?: () => boolean
}

/** Runs a history of each seed in child processes, which begin in the order of their seeds. */
export async function runHistories(
  source: HistorySource,
  seeds: Iterable<number>,
  { processes = availableParallelism(), onOutcome, isDone = () => false }: RunOptions,
): Promise<void> {
  const rest = Iterator.from(seeds)
  const work = async () => {
    const child = new HistoryProcess(source)
    try {
      while (!isDone()) {
        const next = rest.next()
        if (next.done) break
        onOutcome(await child.run(next.value))
      }
    } finally {
      await child.stop()
    }
  }
  await Promise.all(Array.from({ length: processes }, work))
}

/** Replays, shortens and prints a failed history, in a process that has run no other. */
export async function explainFailure(source: HistorySource, { seed, digest }: Outcome): Promise<string> {
  const child = new HistoryProcess(source)
  try {
    const { digests, operations, text } = await child.explain(seed)
    const isReplayed = digests.every((one) => one === digest)
    const replay = isReplayed
      ? ''
      : `NOT DETERMINISTIC: digest ${digest}, in another process ${digests.join(', then ')}\n`
    const outside = operations.length === 0 ? '' : `outside of the simulation: ${operations.join(', ')}\n`
    return `${replay}${outside}${text}`
  } finally {
    await child.stop()
  }
}
