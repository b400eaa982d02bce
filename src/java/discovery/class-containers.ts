import { readFile, stat } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { messageOf } from '../../common/errors.ts'
import type { JavaPluginLocation } from '../plugin-location.ts'
import { Jar } from './jar.ts'
import { filesBelow, isClassFile, type LocationFault, unreadable } from './location-files.ts'

/** Where the classes of a location are: one of its jars, or the directory itself. */
export type ClassContainer = {
  /** Path of the jar or directory. */
  readonly file: string
  /** Names of its files with `/`, such as `org/example/Plugin.class`. */
  readonly names: Iterable<string>
  has(name: string): boolean
  /** Rejects if the file is damaged or has more than `bytesMax` bytes, with a sentence. */
  read(name: string, bytesMax: number): Promise<Buffer>
  close(): void
}

/** Limit of the jars of one location, which are open at the same time. */
const JARS_MAX = 2_000
/** Limit of the entries of all jars of one location, which are in memory at the same time. */
const ENTRIES_MAX = 500_000

/** Opens all containers of a location. A jar that cannot be opened is left out and added to `faults`. */
export async function openContainers(
  location: JavaPluginLocation,
  faults: LocationFault[],
): Promise<readonly ClassContainer[]> {
  if (location.jars.length === 0) return [directoryContainer(location.path, faults)]
  if (location.jars.length > JARS_MAX)
    throw new Error(`it contains ${location.jars.length} jars, more than ${JARS_MAX}`)
  const opened: ClassContainer[] = []
  let entries = 0
  for (const file of location.jars) {
    try {
      const jar = await Jar.open(file)
      opened.push(jarContainer(file, jar))
      entries += jar.entries.size
    } catch (error) {
      faults.push({ file, reason: notJar(error) })
    }
    if (entries <= ENTRIES_MAX) continue
    for (const container of opened) container.close()
    throw new Error(`its jars have more than ${ENTRIES_MAX} entries`)
  }
  return opened
}

/** Puts a readable sentence before the message of yauzl, which is meant for developers. */
function notJar(error: unknown): string {
  const reason = unreadable(error)
  if (reason !== messageOf(error) || reason.startsWith('it ')) return reason
  return `it is not a jar, or damaged: ${reason}`
}

function jarContainer(file: string, jar: Jar): ClassContainer {
  return {
    file,
    names: jar.entries.keys(),
    has: (name) => jar.entries.has(name),
    read: async (name, bytesMax) => {
      const entry = jar.entries.get(name)
      if (entry === undefined) throw new Error(`it has no ${name}`)
      return jar.read(entry, bytesMax)
    },
    close: () => jar.close(),
  }
}

function directoryContainer(directory: string, faults: LocationFault[]): ClassContainer {
  const files = new Map(
    filesBelow(directory, faults).map((file) => [relative(directory, file).split(sep).join('/'), file]),
  )
  return {
    file: directory,
    names: [...files.keys()].filter(isClassFile),
    has: (name) => files.has(name),
    read: async (name, bytesMax) => {
      const file = files.get(name) ?? ''
      const { size } = await stat(file)
      if (size > bytesMax) throw new Error(`its file ${name} has ${size} bytes, more than ${bytesMax}`)
      return readFile(file)
    },
    close: () => undefined,
  }
}
