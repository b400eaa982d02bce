import { readFileSync } from 'node:fs'

/** All child processes, recursively. */
export function descendantsOf(pid: number): readonly number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)
  return children.flatMap((child) => [child, ...descendantsOf(child)])
}

/** The processes in which a worker runs tasks. */
export function taskProcessesOf(pid: number): readonly number[] {
  return descendantsOf(pid).filter((one) => read(`/proc/${one}/cmdline`).startsWith('weir tasks-'))
}

/** The process of `weir` that a shell or npm with this process id has started. */
export function weirProcessOf(pid: number): number | undefined {
  return [pid, ...descendantsOf(pid)].find((one) => read(`/proc/${one}/cmdline`).includes('src/cli/weir.ts\0'))
}

/** Resident memory of a process and all its descendants, in MB. */
export function residentMbOf(pid: number): number {
  const processes = [pid, ...descendantsOf(pid)]
  return processes.reduce(
    (sum, one) => sum + Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${one}/status`))?.[1] ?? 0) / 1_024,
    0,
  )
}

/** Empty if the process has exited. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
