import { type Dirent, readFileSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../../common/errors.ts'
import type { ManifestError } from '../cluster.ts'
import { type Manifests, readManifests } from './manifest.ts'

const MANIFEST = /\.(ya?ml|json)$/i
export const MANIFEST_BYTES_MAX = 8 * 1024 * 1024

/** The content of a file when it was last read. */
export type ManifestFile = Manifests & {
  /** Relative to the folder, with `/` as separator. */
  readonly path: string
  /** Changes when the file does. */
  readonly stamp: string
}

export type ManifestFolder = {
  /** By path, sorted. */
  readonly files: ReadonlyMap<string, ManifestFile>
  /** Folders that could not be listed. The resources that were read from them before are kept. */
  readonly manifestErrors: readonly ManifestError[]
}

export const EMPTY_FOLDER: ManifestFolder = { files: new Map(), manifestErrors: [] }

/** Whether a file of this path, relative to the folder, is read. */
export function isManifestPath(path: string): boolean {
  return MANIFEST.test(path) && !path.split('/').some(isIgnored)
}

function isIgnored(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules'
}

/**
 * Reads the manifests under `root` and its sub-folders. Names that begin with a dot are ignored. Files that have not
 * changed since `before` are not read again.
 */
export async function readManifestFolder(root: string, before: ManifestFolder): Promise<ManifestFolder> {
  const found = await listManifests(root, '')
  const lost = found.manifestErrors.map(({ file }) => (file === '.' ? '' : `${file}/`))
  const kept = [...before.files.keys()].filter((path) => lost.some((prefix) => path.startsWith(prefix)))
  const files = new Map<string, ManifestFile>()
  const present = new Set(found.paths)
  for (const path of [...new Set([...found.paths, ...kept])].sort()) {
    const known = before.files.get(path)
    const file = present.has(path) ? readManifestFile(root, path, known) : known
    if (file !== undefined) files.set(path, file)
  }
  return { files, manifestErrors: found.manifestErrors }
}

type Listing = { readonly paths: readonly string[]; readonly manifestErrors: readonly ManifestError[] }

async function listManifests(root: string, below: string): Promise<Listing> {
  let entries: readonly Dirent[]
  try {
    entries = await readdir(join(root, below), { withFileTypes: true })
  } catch (error) {
    const message = `cannot list this folder: ${messageOf(error)}; its resources are kept`
    return { paths: [], manifestErrors: [{ file: below === '' ? '.' : below, message }] }
  }
  const paths: string[] = []
  const manifestErrors: ManifestError[] = []
  for (const entry of entries) {
    if (isIgnored(entry.name)) continue
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) {
      const inside = await listManifests(root, path)
      paths.push(...inside.paths)
      manifestErrors.push(...inside.manifestErrors)
    } else if (MANIFEST.test(entry.name)) paths.push(path)
  }
  return { paths, manifestErrors }
}

/** Undefined when the path does not exist or is not a file. */
function readManifestFile(root: string, path: string, known: ManifestFile | undefined): ManifestFile | undefined {
  const fullPath = join(root, path)
  let stamp = 'unknown'
  try {
    const stat = statSync(fullPath, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined || !stat.isFile()) return undefined
    stamp = `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`
    if (known?.stamp === stamp) return known
    if (stat.size > MANIFEST_BYTES_MAX) {
      return unreadableFile(path, stamp, `has ${stat.size} bytes: at most ${MANIFEST_BYTES_MAX} are read as manifests`)
    }
    return { path, stamp, ...readManifests(readFileSync(fullPath, 'utf8'), path) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    return unreadableFile(path, stamp, `cannot be read: ${messageOf(error)}`)
  }
}

function unreadableFile(path: string, stamp: string, message: string): ManifestFile {
  return { path, stamp, resources: [], configMaps: [], manifestErrors: [{ file: path, message }] }
}
