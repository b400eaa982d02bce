import { run } from '../env/process.ts'

/** Resident memory of a process of this machine, in MB. */
export async function residentMb(pid: number | undefined): Promise<number> {
  if (pid === undefined) throw new Error('memory can only be measured of a process of this machine')
  const { stdout } = await run({ file: 'ps', args: ['-o', 'rss=', '-p', String(pid)], directory: '.' })
  return Number(stdout) / 1024
}
