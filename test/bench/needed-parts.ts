import type { Bring, Part } from '../env/part.ts'
import { parts } from '../env/parts.ts'
import { progress } from './settings.ts'

/** A real system that a part of the benchmark measures or needs. */
export type NeededPart = keyof typeof parts

/**
 * Downloads and builds what this machine does not have yet, before the time limits of the benchmark count: an API server
 * alone takes some minutes. What cannot be provided is left to the part that needs it, which fails with the reason.
 */
export async function provideParts(names: readonly NeededPart[]): Promise<void> {
  for (const name of new Set(names)) await provide(parts[name])
}

async function provide(part: Part<unknown>): Promise<void> {
  const found = await part.find()
  if (found.how === 'missing' || found.cached) return
  progress(`${part.name}: prepared once for this machine (${found.detail})`)
  const started: (() => Promise<void>)[] = []
  const bring: Bring = async (other) => {
    const { address, stop } = await other.start(bring)
    started.push(stop)
    return address
  }
  try {
    await bring(part)
  } catch (error) {
    progress(`${part.name}: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    for (const stop of started.reverse()) await stop()
  }
}
