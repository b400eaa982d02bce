import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { createDirectories } from '../../common/create-directories.ts'
import { messageOf, systemErrorCode, UserError } from '../../common/errors.ts'
import { type Coordinates, formatCoordinates } from './coordinates.ts'
import type { InstallProgress, PluginResolver, Resolution, ResolvedFile } from './plugin-resolver.ts'

export type Installation = {
  readonly directory: string
  readonly files: number
  readonly bytes: number
  /** Whether the directory had the same installation before. */
  readonly isUnchanged: boolean
}

/** The name of the file that records an installation, in its directory. */
export const LOCK_FILE = 'weir-plugin.lock.json'

const lockSchema = z.object({
  plugin: z.string(),
  /** Dependencies that are left out because the Java host has them. */
  provided: z.array(z.string()),
  files: z.array(
    z.object({
      file: z.string(),
      artifact: z.string(),
      repository: z.string(),
      bytes: z.number(),
      sha512: z.string(),
    }),
  ),
})
type Lock = z.infer<typeof lockSchema>
type LockedFile = Lock['files'][number]

/**
 * Installs a plugin with its dependencies into the directory `ARTIFACT-VERSION` below `pluginPath`. The directory appears
 * when it is complete, so a worker never finds a part of it. Rejects with a `UserError`.
 */
export async function installPlugin(
  plugin: Coordinates,
  resolver: PluginResolver,
  pluginPath: string,
  progress: InstallProgress,
): Promise<Installation> {
  const directory = join(pluginPath, `${plugin.artifact}-${plugin.version}`)
  const existing = await findInstallation(plugin, directory)
  if (existing !== undefined) return existing
  await createDirectory(pluginPath)
  // In the same file system, and hidden from workers.
  const temporary = await mkdtemp(join(pluginPath, '.weir-install-'))
  try {
    const downloads = join(temporary, 'downloads')
    const resolution = await resolver.download(plugin, downloads, progress)
    const files = await moveAll(resolution.files, temporary)
    await rm(downloads, { recursive: true })
    await writeFile(join(temporary, LOCK_FILE), `${JSON.stringify(lockOf(plugin, resolution, files), null, 2)}\n`)
    // mkdtemp lets only this user in; a worker may run as another one.
    await chmod(temporary, 0o755)
    try {
      await rename(temporary, directory)
    } catch (error) {
      // Another installation may have been faster.
      const other = await findInstallation(plugin, directory)
      if (other === undefined) throw error
      return other
    }
    return { directory, files: files.length, bytes: totalBytes(files), isUnchanged: false }
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Undefined if the directory does not exist. Rejects if it is not an intact installation of the plugin. */
async function findInstallation(plugin: Coordinates, directory: string): Promise<Installation | undefined> {
  if (!existsSync(directory)) return undefined
  const conflict = (reason: string) =>
    new UserError('install_conflict', `${directory} exists already, and ${reason}: remove it to install again`)
  const lock = await readLock(directory)
  if (lock === undefined) throw conflict(`has no ${LOCK_FILE}`)
  if (lock.plugin !== formatCoordinates(plugin)) throw conflict(`is an installation of ${lock.plugin}`)
  for (const { file, sha512 } of lock.files) {
    if ((await hashFile(join(directory, file))) !== sha512) throw conflict(`its ${file} is missing or was changed`)
  }
  return { directory, files: lock.files.length, bytes: totalBytes(lock.files), isUnchanged: true }
}

async function readLock(directory: string): Promise<Lock | undefined> {
  try {
    const lock = lockSchema.parse(JSON.parse(await readFile(join(directory, LOCK_FILE), 'utf8')))
    const isInside = ({ file }: LockedFile) => !/[/\\]/.test(file)
    return lock.files.every(isInside) ? lock : undefined
  } catch {
    return undefined
  }
}

async function hashFile(file: string): Promise<string | undefined> {
  const hash = createHash('sha512')
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
    return hash.digest('hex')
  } catch {
    return undefined
  }
}

async function createDirectory(directory: string): Promise<void> {
  try {
    createDirectories(directory)
  } catch (error) {
    const reason = systemErrorCode(error) === 'EEXIST' ? 'it is not a directory' : messageOf(error)
    throw new UserError('install_conflict', `${directory} cannot be used as the plugin path: ${reason}`)
  }
}

async function moveAll(files: readonly ResolvedFile[], directory: string): Promise<readonly LockedFile[]> {
  const names = fileNames(files)
  const moved: LockedFile[] = []
  for (const [at, { artifact, path, repository }] of files.entries()) {
    const file = names[at]!
    const target = join(directory, file)
    await rename(path, target)
    const sha512 = await hashFile(target)
    if (sha512 === undefined) throw new Error(`${target} cannot be read`)
    moved.push({ file, artifact, repository, bytes: (await stat(target)).size, sha512 })
  }
  return moved
}

/** As in the repository. Artifacts of several groups may have the same name: then with the group. */
function fileNames(files: readonly ResolvedFile[]): readonly string[] {
  const counts = Map.groupBy(files, ({ path }) => basename(path).toLowerCase())
  return files.map(({ group, path }) => {
    const name = basename(path)
    return counts.get(name.toLowerCase())!.length === 1 ? name : `${group}.${name}`
  })
}

function lockOf(plugin: Coordinates, { provided }: Resolution, files: readonly LockedFile[]): Lock {
  return { plugin: formatCoordinates(plugin), provided: [...provided], files: [...files] }
}

function totalBytes(files: readonly LockedFile[]): number {
  return files.reduce((total, { bytes }) => total + bytes, 0)
}
