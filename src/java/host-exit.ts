/** How the JVM of a host ended, and the last lines of its output. */
export type HostExit = {
  readonly code: number | null
  readonly signal: string | null
  readonly lines: readonly string[]
}

/** Output of a JVM that exits because of `-XX:+ExitOnOutOfMemoryError`. */
const OUT_OF_MEMORY = /java\.lang\.OutOfMemoryError(?:: (.*))?/
const OTHER_JAVA = /UnsupportedClassVersionError: dev\/weir\/host/
/** What the JVM prints when it cannot start, for example with a heap that is too small. */
const JVM_ERROR = /^(?:Error: |Invalid |Error occurred |Unrecognized |Too small |Could not |Initial heap ).*/

/** Describes why a host ended and, if known, the remedy, as the end of a sentence whose subject is the host. */
export function describeExit({ code, signal, lines }: HostExit, heapMax: string): string {
  const memory = lines.map((line) => OUT_OF_MEMORY.exec(line)).find((found) => found !== null)
  if (memory) {
    const detail = memory[1] === undefined ? '' : ` (${memory[1]})`
    return `ran out of memory${detail}: java.host.heap.max is ${heapMax}`
  }
  if (lines.some((line) => OTHER_JAVA.test(line))) return 'was started with a Java that is older than 17 (java.home)'
  const errors = lines.filter((line) => JVM_ERROR.test(line))
  const detail = errors.length > 0 ? `: ${errors.join(' ')} (java.host.heap.max is ${heapMax})` : ''
  if (signal !== null) return `ended by ${signal}${detail}`
  if (code === null) return `could not be executed: ${lines.at(-1)}`
  if (code === 0 || detail !== '') return `ended with exit code ${code}${detail}`
  const last = lines.at(-1)
  return `ended with exit code ${code}, as by System.exit${last === undefined ? '' : `; its last output was: ${last}`}`
}
