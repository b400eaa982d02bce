import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, systemErrorCode } from '../../common/errors.ts'

/** A file or directory of a plugin location that is not used, with the reason as a sentence. */
export type LocationFault = {
  readonly file: string
  readonly reason: string
  /** Whether only a class is not used. Kafka Connect skips such a class, too, and uses the others of its location. */
  readonly isWarning?: true | undefined
}

/** Limits of the directories and files below one location, so that a link to `/` is reported as an error. */
const ENTRIES_MAX = 200_000
const DEPTH_MAX = 64
/** Limit of what is reported of one location. A link to `/` leads to thousands of files that cannot be read. */
const FAULTS_MAX = 20

/** The children of a directory, sorted, without those that Kubernetes and unfinished installations hide. */
export function visibleChildren(directory: string): readonly Dirent[] {
  const children = readdirSync(directory, { withFileTypes: true })
  return children.filter(({ name }) => !name.startsWith('.')).sort((a, b) => (a.name < b.name ? -1 : 1))
}

export function isClassFile(path: string): boolean {
  return path.toLowerCase().endsWith('.class')
}

/**
 * All files below a directory. Links are followed; a directory to which several lead is visited once. What cannot be read
 * is added to `faults`; throws if the directory itself cannot be read, or contains too much.
 */
export function filesBelow(directory: string, faults: LocationFault[]): readonly string[] {
  const walk = new Walk()
  try {
    walk.visit(directory, 0)
    return walk.files
  } finally {
    faults.push(...walk.faults.slice(0, FAULTS_MAX))
    const more = walk.faults.length - FAULTS_MAX
    if (more > 0) faults.push({ file: directory, reason: `${more} more of its files cannot be read` })
  }
}

/** The reason of a failed read, without the path, which the fault names already. */
export function unreadable(error: unknown): string {
  const code = systemErrorCode(error)
  if (code === 'EACCES' || code === 'EPERM') return 'it cannot be read: permission denied'
  if (code === 'ELOOP') return 'the link leads to itself'
  return messageOf(error)
}

class Walk {
  readonly files: string[] = []
  readonly faults: LocationFault[] = []
  readonly #visited = new Set<string>()
  #entries = 0

  visit(directory: string, depth: number): void {
    const real = realpathSync(directory)
    if (this.#visited.has(real)) return
    this.#visited.add(real)
    if (depth > DEPTH_MAX) throw new Error(`its directories are nested deeper than ${DEPTH_MAX}`)
    for (const child of visibleChildren(directory)) {
      if (++this.#entries > ENTRIES_MAX) throw new Error(`it contains more than ${ENTRIES_MAX} files`)
      const path = join(directory, child.name)
      const stats = this.#statsOf(path, child)
      if (stats?.isDirectory()) this.#descend(path, depth + 1)
      else if (stats?.isFile()) this.files.push(path)
    }
  }

  #descend(directory: string, depth: number): void {
    try {
      this.visit(directory, depth)
    } catch (error) {
      if (systemErrorCode(error) === undefined) throw error
      this.faults.push({ file: directory, reason: unreadable(error) })
    }
  }

  #statsOf(path: string, child: Dirent): Pick<Stats, 'isDirectory' | 'isFile'> | undefined {
    if (!child.isSymbolicLink()) return child
    try {
      return statSync(path)
    } catch (error) {
      const reason = systemErrorCode(error) === 'ENOENT' ? 'the link leads nowhere' : unreadable(error)
      this.faults.push({ file: path, reason })
      return undefined
    }
  }
}
