import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files of an embedded broker that must survive a power cut. A file that does not exist is undefined. */
export const DURABLE_FILES = ['broker.db', 'broker.db-wal', 'broker.check'] as const
export type DurableFiles = Readonly<Record<(typeof DURABLE_FILES)[number], Buffer | undefined>>

/** A disk writes a sector completely or not at all. */
const SECTOR_BYTES = 512

export function readDurableFiles(directory: string): DurableFiles {
  const contents = DURABLE_FILES.map((name) => {
    const path = join(directory, name)
    return [name, existsSync(path) ? readFileSync(path) : undefined]
  })
  return Object.fromEntries(contents)
}

/** Creates a directory with these files, as a machine finds it when it starts again. */
export function writeDurableFiles(directory: string, files: DurableFiles): void {
  mkdirSync(directory)
  for (const name of DURABLE_FILES) {
    const content = files[name]
    if (content !== undefined) writeFileSync(join(directory, name), content)
  }
}

/**
 * A file of which some of the writes since it was synced have reached the disk, in any order: each sector is the old one or the
 * new one, and what was appended may be missing from some sector on. `random` returns numbers from 0 to 1.
 */
export function tornFile(
  synced: Buffer | undefined,
  written: Buffer | undefined,
  random: () => number,
): Buffer | undefined {
  if (synced === undefined || written === undefined) return random() < 0.5 ? synced : written
  const shortest = Math.min(synced.length, written.length)
  const longest = Math.max(synced.length, written.length)
  const length = [shortest, longest, shortest + Math.floor(random() * (longest - shortest))][Math.floor(random() * 3)]!
  // A sector of a longer file that was never written is zero.
  const torn = Buffer.alloc(length)
  const share = random()
  for (let at = 0; at < length; at += SECTOR_BYTES) {
    const from = random() < share ? written : synced
    torn.set(from.subarray(at, Math.min(at + SECTOR_BYTES, length)), at)
  }
  return torn
}
