import { readFileSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { type Manifests, positionOfField, readManifests } from '../cluster/directory/manifest.ts'
import { EMPTY_FOLDER, readManifestFolder } from '../cluster/directory/read-manifest-folder.ts'
import type { DeclaredResource } from '../resources/parse-resource.ts'
import { type ResourceKey, resourceKey } from '../resources/resource.ts'
import type { DeclaredState } from './simulation.ts'

/** A place in a file. Lines and columns start at 1. */
export type FilePosition = { readonly file: string; readonly line: number; readonly column: number }
export type ManifestProblem = FilePosition & { readonly message: string }

/** The manifests of a directory. File names are relative to it. */
export type ManifestDirectory = DeclaredState & {
  /** Number of files that were read. */
  readonly fileCount: number
  /** Why manifests are invalid or ignored although they are meant for Weir. */
  readonly problems: readonly ManifestProblem[]
  /** Documents that are not for Weir. */
  readonly foreignDocuments: readonly ManifestProblem[]
  /** The position of a field of a resource, such as `spec.config[batch.size]`; without a field, of the resource. */
  locate(key: ResourceKey, field?: string): FilePosition
}

type ParsedFile = Manifests & { readonly path: string; readonly text: () => string }

/** Reads all manifests below a directory. Links that lead out of it are not followed. */
export async function readManifestDirectory(root: string): Promise<ManifestDirectory> {
  const folder = await readManifestFolder(root, EMPTY_FOLDER)
  const realRoot = `${realpathSync(root)}${sep}`
  const files = [...folder.files.values()].map((file): ParsedFile => {
    const text = () => readFileSync(join(root, file.path), 'utf8')
    if (realpathSync(join(root, file.path)).startsWith(realRoot)) return { ...file, text }
    const message = 'is a link to a file outside of the directory: copy the file'
    return { path: file.path, text, resources: [], configMaps: [], manifestErrors: [{ file: file.path, message }] }
  })
  return toDirectory(files, folder.manifestErrors)
}

/** The same for files in memory, such as those of a git revision. */
export function manifestDirectoryOf(files: readonly { readonly path: string; readonly text: string }[]) {
  return toDirectory(
    files.map(({ path, text }) => ({ path, text: () => text, ...readManifests(text, path) })),
    [],
  )
}

function toDirectory(files: readonly ParsedFile[], folderErrors: Manifests['manifestErrors']): ManifestDirectory {
  const origins = new Map<ResourceKey, { readonly file: ParsedFile; readonly line: number }>()
  const resources: DeclaredResource[] = []
  const problems: ManifestProblem[] = []
  const configMaps = new Map<string, Readonly<Record<string, string>>>()
  const errors = [...folderErrors, ...files.flatMap(({ manifestErrors }) => manifestErrors)]
  for (const file of files) {
    for (const { namespace, name, data } of file.configMaps) configMaps.set(`${namespace}/${name}`, data)
    for (const { declared, line } of file.resources) {
      const key = resourceKey(declared.kind, declared.namespace, declared.name)
      const known = origins.get(key)
      if (known !== undefined) {
        const message = `${key} is declared in ${known.file.path}:${known.line} already: rename or remove one of them`
        problems.push({ file: file.path, line, column: 1, message })
        continue
      }
      origins.set(key, { file, line })
      resources.push(declared)
    }
  }
  const isForeign = (error: Manifests['manifestErrors'][number]) => error.isForeign === true
  const toProblem = ({ file, line = 1, column = 1, message }: Manifests['manifestErrors'][number]) => {
    return { file, line, column, message }
  }
  return {
    resources,
    configMaps,
    fileCount: files.length,
    problems: [...errors.filter((error) => !isForeign(error)).map(toProblem), ...problems],
    foreignDocuments: errors.filter(isForeign).map(toProblem),
    locate(key, field) {
      const { file, line } = origins.get(key)!
      if (field === undefined) return { file: file.path, line, column: 1 }
      return { file: file.path, ...positionOfField(file.text(), line, pathOfField(field)) }
    },
  }
}

/** The path of `spec.config[batch.size]`: a key in brackets may contain dots. */
function pathOfField(field: string): readonly string[] {
  const [, fields = field, key] = /^([^[]*)\[(.*)\]$/s.exec(field) ?? []
  return [...fields.split('.'), ...(key === undefined ? [] : [key])]
}
