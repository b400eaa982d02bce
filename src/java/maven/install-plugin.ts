import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { messageOf, systemErrorCode, UserError } from '../../common/errors.ts'
import { mapConcurrently } from '../../common/map-concurrently.ts'
import { type Coordinates, fileName, formatCoordinates } from './coordinates.ts'
import type { MavenRepository } from './maven-repository.ts'
import { type Resolution, resolveDependencies } from './resolve-dependencies.ts'

/** Reports the progress of an installation. */
export type InstallProgress = {
  /** `count` files are about to be downloaded. */
  begin(count: number): void
  /** More bytes of a file were received. */
  received(bytes: number): void
  downloaded(): void
}

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
  repository: z.string(),
  /** Dependencies that are left out because the Java host has them. */
  provided: z.array(z.string()),
  files: z.array(z.object({ file: z.string(), artifact: z.string(), bytes: z.number(), sha512: z.string() })),
})
type Lock = z.infer<typeof lockSchema>
type LockedFile = Lock['files'][number]

const TOTAL_BYTES_MAX = 4_096 * 1_048_576

/**
 * Installs a plugin with its dependencies into the directory `ARTIFACT-VERSION` below `pluginPath`. The directory appears
 * when it is complete, so a worker never finds a part of it. Rejects with a `UserError`.
 */
export async function installPlugin(
  plugin: Coordinates,
  repository: MavenRepository,
  pluginPath: string,
  progress: InstallProgress,
): Promise<Installation> {
  const directory = join(pluginPath, `${plugin.artifact}-${plugin.version}`)
  const existing = await findInstallation(plugin, directory)
  if (existing !== undefined) return existing
  const resolution = await resolveDependencies(plugin, repository)
  await createDirectory(pluginPath)
  // In the same file system, and hidden from workers.
  const temporary = await mkdtemp(join(pluginPath, '.weir-install-'))
  try {
    const files = await downloadAll(resolution.files, repository, temporary, progress)
    await writeFile(
      join(temporary, LOCK_FILE),
      `${JSON.stringify(lockOf(plugin, repository, resolution, files), null, 2)}\n`,
    )
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
    await mkdir(directory, { recursive: true })
  } catch (error) {
    const reason = systemErrorCode(error) === 'EEXIST' ? 'it is not a directory' : messageOf(error)
    throw new UserError('install_conflict', `${directory} cannot be used as the plugin path: ${reason}`)
  }
}

async function downloadAll(
  artifacts: readonly Coordinates[],
  repository: MavenRepository,
  directory: string,
  progress: InstallProgress,
): Promise<readonly LockedFile[]> {
  const names = fileNames(artifacts)
  let bytesLeft = TOTAL_BYTES_MAX
  progress.begin(artifacts.length)
  // After an error the directory is removed, so no download may still write to it.
  return mapConcurrently(artifacts, async (artifact, index): Promise<LockedFile> => {
    const file = names[index]!
    const { bytes, sha512 } = await repository.download(artifact, join(directory, file), {
      onReceived: (count) => progress.received(count),
    })
    bytesLeft -= bytes
    if (bytesLeft < 0) throw new UserError('install_limit', `the files have more than ${TOTAL_BYTES_MAX} bytes`)
    progress.downloaded()
    return { file, artifact: formatCoordinates(artifact), bytes, sha512 }
  })
}

/** As in the repository. Artifacts of several groups may have the same name: then with the group. */
function fileNames(artifacts: readonly Coordinates[]): readonly string[] {
  const counts = Map.groupBy(artifacts, (artifact) => fileName(artifact).toLowerCase())
  return artifacts.map((artifact) => {
    const name = fileName(artifact)
    return counts.get(name.toLowerCase())!.length === 1 ? name : `${artifact.group}.${name}`
  })
}

function lockOf(
  plugin: Coordinates,
  { url }: MavenRepository,
  { provided }: Resolution,
  files: readonly LockedFile[],
): Lock {
  return { plugin: formatCoordinates(plugin), repository: url, provided: [...provided], files: [...files] }
}

function totalBytes(files: readonly LockedFile[]): number {
  return files.reduce((total, { bytes }) => total + bytes, 0)
}
