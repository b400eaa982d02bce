import type { ProcessLoadReport } from '../isolated-process.ts'

// Decides in which task process a task runs. A worker begins with one process, because each costs memory, and uses more of
// them only for tasks that are too much for one.

export type PlacementProcess = { readonly load: ProcessLoadReport; readonly tasks: number }

export type PlacementTask = {
  /** Records that it has read in the last window. */
  readonly records: number
}

/** Tasks of a busier process delay each other noticeably, because they share one event loop. */
const CPU_UTILIZATION_MAX = 0.75
/** Tasks of a process that uses more of its memory limit could exceed it together although none of them does alone. */
const MEMORY_PART_MAX = 0.5

/** Returns the process for a new task; undefined: a further process. */
export function selectProcess<P extends PlacementProcess>(
  processes: readonly P[],
  processesMax: number,
): P | undefined {
  const [best] = processes.toSorted(
    (a, b) =>
      Number(isOverloaded(a.load)) - Number(isOverloaded(b.load)) ||
      inTenths(a.load.cpuUtilization) - inTenths(b.load.cpuUtilization) ||
      a.tasks - b.tasks,
  )
  if (best === undefined) return undefined
  return best.tasks > 0 && isOverloaded(best.load) && processes.length < processesMax ? undefined : best
}

/**
 * Returns the tasks that leave an overloaded process for a further one, so that about half of the records are read in each.
 * A task that reads no records stays, unless memory is short. Empty if the process is not overloaded or has only one task
 * to which this may be due.
 */
export function selectTasksToMove<T extends PlacementTask>(load: ProcessLoadReport, tasks: readonly T[]): readonly T[] {
  if (!isOverloaded(load)) return []
  const isMemoryShort = load.memoryPart > MEMORY_PART_MAX
  const causes = isMemoryShort ? tasks : tasks.filter(({ records }) => records > 0)
  const parts: [HalfOfTasks<T>, HalfOfTasks<T>] = [
    { records: 0, tasks: [] },
    { records: 0, tasks: [] },
  ]
  for (const task of causes.toSorted((a, b) => b.records - a.records)) {
    const smaller = parts[1].records < parts[0].records ? parts[1] : parts[0]
    smaller.tasks.push(task)
    // Tasks without records are distributed evenly.
    smaller.records += task.records + 1
  }
  // A restart is work, so the part with fewer tasks moves.
  return parts[0].tasks.length < parts[1].tasks.length ? parts[0].tasks : parts[1].tasks
}

type HalfOfTasks<T> = { records: number; readonly tasks: T[] }

function isOverloaded({ cpuUtilization, memoryPart }: ProcessLoadReport): boolean {
  return cpuUtilization > CPU_UTILIZATION_MAX || memoryPart > MEMORY_PART_MAX
}

/** Smaller differences are coincidence. */
function inTenths(cpuUtilization: number): number {
  return Math.round(cpuUtilization * 10)
}
