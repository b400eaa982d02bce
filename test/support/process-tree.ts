import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** All child processes, recursively. */
export function descendantsOf(pid: number): readonly number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)
  return children.flatMap((child) => [child, ...descendantsOf(child)])
}

/** The processes in which a worker runs tasks. */
export function taskProcessesOf(pid: number): readonly number[] {
  return descendantsOf(pid).filter((one) => read(`/proc/${one}/cmdline`).startsWith('weir tasks-'))
}

/** Whether a process has exited, also if its parent has not noticed yet. */
export function isGone(pid: number): boolean {
  return !/^State:\s+[^ZX]/m.test(read(`/proc/${pid}/status`))
}

/** The process id of `weir`, given its own or that of the shell or npm that started it. */
export function weirProcessOf(pid: number): number | undefined {
  return [pid, ...descendantsOf(pid)].find((one) => /\/cli\/weir\.[jt]s\0/.test(read(`/proc/${one}/cmdline`)))
}

/** Resident memory of a process and all its descendants, in MB. */
export function residentMbOf(pid: number): number {
  const processes = [pid, ...descendantsOf(pid)]
  return processes.reduce(
    (sum, one) => sum + Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${one}/status`))?.[1] ?? 0) / 1_024,
    0,
  )
}

/**
 * Memory that a process and all its descendants occupy, in MB: their private memory, and the pages of files, such as
 * executables, once for all of them, as the machine has them.
 */
export function occupiedMbOf(pid: number): number {
  const files = new Map<string, number>()
  let privateKb = 0
  for (const one of [pid, ...descendantsOf(pid)]) {
    for (const { file, residentKb, anonymousKb } of mappingsOf(one)) {
      privateKb += anonymousKb
      files.set(file, Math.max(files.get(file) ?? 0, residentKb - anonymousKb))
    }
  }
  return (privateKb + [...files.values()].reduce((sum, kb) => sum + kb, 0)) / 1_024
}

function mappingsOf(pid: number) {
  const mappings = read(`/proc/${pid}/smaps`).split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
  return mappings.map((text) => {
    const kb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)
    // Permissions, offset, device, inode and path are the same in each process that maps the file.
    const file = text.slice(text.indexOf(' '), text.indexOf('\n'))
    return { file, residentKb: kb('Rss'), anonymousKb: kb('Anonymous') }
  })
}

/** Number of open TCP connections of a process and all its descendants to these ports. */
export function connectionsOf(pid: number, ports: readonly number[]): number {
  const sockets = new Set([pid, ...descendantsOf(pid)].flatMap(socketsOf))
  return ['tcp', 'tcp6']
    .flatMap((name) => read(`/proc/${pid}/net/${name}`).split('\n').slice(1))
    .filter((line) => {
      const [, , remote = '', state, , , , , , inode = ''] = line.trim().split(/\s+/)
      const port = Number.parseInt(remote.split(':')[1] ?? '', 16)
      return state === ESTABLISHED && ports.includes(port) && sockets.has(inode)
    }).length
}

const ESTABLISHED = '01'

/** The inodes of the sockets of a process. */
function socketsOf(pid: number): readonly string[] {
  const directory = `/proc/${pid}/fd`
  return readdirSync(directory).flatMap((name) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`${directory}/${name}`))?.[1] ?? []
    } catch {
      // Closed meanwhile.
      return []
    }
  })
}

/** Empty if the process has exited. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
