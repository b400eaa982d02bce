import type { ProcessLoadReport } from '../isolated-process.ts'

/** Number of reports in a window: 5 s, at four reports per second. */
const WINDOW_REPORTS = 20

/**
 * The load of a task process, as averages of consecutive windows. CPU time of the first window does not count: the process
 * needs a whole processor to start, and to start the tasks that it was started for, which says nothing about their load.
 */
export class ProcessLoad {
  #last: ProcessLoadReport | undefined
  #sum = { cpuUtilization: 0, memoryPart: 0 }
  #reports = 0

  /** The load in the last complete window; in the first one, the load since its start. */
  get average(): ProcessLoadReport {
    return this.#last ?? this.#averageOfWindow()
  }

  /** Returns true if the report completes a window. */
  add({ cpuUtilization, memoryPart }: ProcessLoadReport): boolean {
    this.#sum.cpuUtilization += cpuUtilization
    this.#sum.memoryPart += memoryPart
    this.#reports += 1
    if (this.#reports < WINDOW_REPORTS) return false
    this.#last = this.#averageOfWindow()
    this.#sum = { cpuUtilization: 0, memoryPart: 0 }
    this.#reports = 0
    return true
  }

  #averageOfWindow(): ProcessLoadReport {
    const reports = Math.max(1, this.#reports)
    const cpuUtilization = this.#last === undefined ? 0 : this.#sum.cpuUtilization / reports
    return { cpuUtilization, memoryPart: this.#sum.memoryPart / reports }
  }
}
