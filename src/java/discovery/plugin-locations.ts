import { type Dirent, realpathSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { JavaPluginLocation } from '../plugin-location.ts'
import { filesBelow, isClassFile, type LocationFault, unreadable, visibleChildren } from './location-files.ts'

export type FoundLocations = {
  readonly locations: readonly JavaPluginLocation[]
  readonly faults: readonly LocationFault[]
}

/**
 * Finds the Java plugin locations of `plugin.path` with Kafka Connect's rules. An entry is an archive (`.jar`, `.zip`), or
 * a directory whose children are locations: archives, directories with archives at any depth, and directories with the
 * class files of packages. Unlike Connect, it skips hidden children and npm packages. Links are followed.
 */
export function findJavaLocations(pluginPath: readonly string[]): FoundLocations {
  const faults: LocationFault[] = []
  const paths = pluginPath.flatMap((entry) => candidates(resolve(entry)))
  const locations = [...new Set(paths)].flatMap((path) => {
    try {
      return locationAt(path, faults)
    } catch (error) {
      faults.push({ file: path, reason: unreadable(error) })
      return []
    }
  })
  return { locations, faults }
}

/** Whether something on the path can be a Java plugin. Fast: it looks at the children of each directory only. */
export function mayHaveJavaLocations(pluginPath: readonly string[]): boolean {
  return pluginPath.some((entry) => candidates(resolve(entry)).some((path) => mayBeLocation(path)))
}

/** Files that are no locations may still be reported. */
function mayBeLocation(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats?.isDirectory()) return !isPackage(path)
    return stats === undefined || isArchive(path) || isClassFile(path)
  } catch {
    return true
  }
}

export function isArchive(path: string): boolean {
  return /\.(?:jar|zip)$/i.test(path)
}

/** An entry that does not exist or cannot be read is reported by the discovery of modules, which reads the same path. */
function candidates(entry: string): readonly string[] {
  try {
    const stats = statSync(entry, { throwIfNoEntry: false })
    if (stats === undefined) return []
    if (!stats.isDirectory()) return isArchive(entry) ? [entry] : []
    if (isPackage(entry)) return []
    return visibleChildren(entry)
      .filter((child) => !isModulesDirectory(child))
      .map(({ name }) => join(entry, name))
  } catch {
    return []
  }
}

/** `lost+found` is at the root of every ext4 volume, and only root can read it. */
function isModulesDirectory({ name }: Dirent): boolean {
  return name === 'node_modules' || name === 'lost+found'
}

function isPackage(directory: string): boolean {
  return statSync(join(directory, 'package.json'), { throwIfNoEntry: false })?.isFile() === true
}

function locationAt(path: string, faults: LocationFault[]): readonly JavaPluginLocation[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) {
    faults.push({ file: path, reason: 'the link leads nowhere' })
    return []
  }
  if (stats.isFile() && isClassFile(path)) {
    const reason = `class files are found in directories of packages: move it to one, below a directory in ${basename(join(path, '..'))}`
    faults.push({ file: path, reason })
    return []
  }
  if (isArchive(path) && !stats.isDirectory() && !stats.isFile()) {
    faults.push({ file: path, reason: 'it is neither a file nor a directory' })
    return []
  }
  if (!stats.isDirectory()) return isArchive(path) ? [{ path, jars: [path] }] : []
  if (isPackage(path)) return []
  const files = filesBelow(path, faults)
  const jars = [...new Set(files.filter(isArchive).map((jar) => realpathSync(jar)))].sort()
  const hasClasses = files.some(isClassFile)
  if (jars.length > 0 && hasClasses) {
    faults.push({ file: path, reason: 'it contains jars and class files: only its jars are used' })
  }
  return jars.length > 0 || hasClasses ? [{ path, jars }] : []
}
