import { readFile } from 'node:fs/promises'
import { run } from '../env/process.ts'
import { descendantsOf } from '../support/process-tree.ts'

/** Resident memory of a local process, in MB. */
export async function residentMb(pid: number | undefined): Promise<number> {
  if (pid === undefined) throw new Error('memory can only be measured of a process of this machine')
  const { stdout } = await run({ file: 'ps', args: ['-o', 'rss=', '-p', String(pid)], directory: '.' })
  return Number(stdout) / 1024
}

/** CPU time of a local process since its start. */
export async function cpuMs(pid: number | undefined): Promise<number> {
  if (pid === undefined) throw new Error('time can only be measured of a process of this machine')
  if (process.platform === 'linux') return linuxCpuMs(pid)
  const { stdout } = await run({ file: 'ps', args: ['-o', 'time=', '-p', String(pid)], directory: '.' })
  const [seconds = 0, minutes = 0, hours = 0, days = 0] = stdout.trim().split(/[-:]/).map(Number).reverse()
  return 1_000 * (seconds + 60 * (minutes + 60 * (hours + 24 * days)))
}

/** Starts to measure the CPU time of a local process and of all its processes. The result returns the time since then, in ms. */
export async function startCpuClock(pid: number | undefined): Promise<() => Promise<number>> {
  const before = await cpuMsByProcess(pid)
  return async () => {
    const after = [...(await cpuMsByProcess(pid))]
    return after.reduce((sum, [one, ms]) => sum + ms - (before.get(one) ?? 0), 0)
  }
}

/** CPU time of a local process and of all its processes since their start. */
export async function totalCpuMs(pid: number | undefined): Promise<number> {
  return [...(await cpuMsByProcess(pid)).values()].reduce((sum, ms) => sum + ms, 0)
}

async function cpuMsByProcess(pid: number | undefined): Promise<ReadonlyMap<number, number>> {
  if (pid === undefined) throw new Error('time can only be measured of a process of this machine')
  const times = [pid, ...descendantsOf(pid)].map(async (one): Promise<[number, number][]> => {
    // It may have exited meanwhile.
    const ms = await cpuMs(one).catch(() => undefined)
    return ms === undefined ? [] : [[one, ms]]
  })
  return new Map((await Promise.all(times)).flat())
}

/** Read from `/proc`, because `ps` on Linux has a resolution of one second. */
async function linuxCpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The fields after the name, which may contain any characters. User and system time are in 1/100 s.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
