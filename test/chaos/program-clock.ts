import { globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findDebian, unpackDebian } from '../env/debian.ts'
import { partDirectory } from '../env/workspace.ts'

const PACKAGES = ['libfaketime']

/** The clock of one program and the processes that it starts. Only the time of day moves, as when somebody sets it. */
export type ProgramClock = {
  /** The environment of the program. */
  readonly env: Readonly<Record<string, string>>
  /** How far the clock differs from that of the machine. The program notices it within a second. */
  set(offsetMs: number): void
}

export type ClockSource = {
  /** For the report. */
  readonly description: string
  create(): ProgramClock
}

/** By libfaketime, which stands between a process and the clock of the system; else by a module that replaces `Date`. */
export async function findClockSource(): Promise<ClockSource> {
  const directory = partDirectory('clocks')
  let clocks = 0
  const clock = (envOf: (file: string) => Readonly<Record<string, string>>, toText: (ms: number) => string) => () => {
    clocks += 1
    const file = join(directory, `clock-${clocks}`)
    const set = (offsetMs: number) => writeFileSync(file, toText(offsetMs))
    set(0)
    return { env: envOf(file), set }
  }
  const library = await libfaketime()
  if (library === undefined) {
    const shifted = `--import=${import.meta.resolve('./shifted-clock.ts')}`
    const envOf = (file: string) => ({ NODE_OPTIONS: shifted, SHIFTED_CLOCK_FILE: file })
    return { description: 'replacing Date in Weir’s processes', create: clock(envOf, String) }
  }
  const envOf = (file: string) => ({
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DISABLE_SHM: '1',
    NO_FAKE_STAT: '1',
  })
  return { description: 'libfaketime', create: clock(envOf, (ms) => `${ms < 0 ? '' : '+'}${ms / 1_000}\n`) }
}

/** Path of the library, if this machine can provide it. */
async function libfaketime(): Promise<string | undefined> {
  if ((await findDebian(PACKAGES)).how === 'missing') return undefined
  const folder = await unpackDebian(PACKAGES).catch(() => undefined)
  if (folder === undefined) return undefined
  return globSync(join(folder, 'usr/lib/*/faketime/libfaketimeMT.so.1'))[0]
}
