import { readFileSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { DocumentPath } from '../../common/document-path.ts'
import { messageOf } from '../../common/errors.ts'
import { parseYamlDocuments, type TextPosition, type YamlDocument } from '../../common/yaml-documents.ts'
import { type Manifests, readManifests } from '../cluster/directory/manifest.ts'
import { EMPTY_FOLDER, readManifestFolder } from '../cluster/directory/read-manifest-folder.ts'
import type { DeclaredResource } from '../resources/parse-resource.ts'
import { type ResourceKey, resourceKey } from '../resources/resource.ts'
import type { DeclaredState } from './simulation.ts'

/** A place in a file. Lines and columns start at 1. */
export type FilePosition = TextPosition & { readonly file: string }
export type ManifestProblem = FilePosition & { readonly message: string }

/** The manifests of a directory. File names are relative to it. */
export type ManifestDirectory = DeclaredState & {
  /** Number of files that were read. */
  readonly fileCount: number
  /** Why manifests are invalid or ignored although they are meant for Weir. */
  readonly problems: readonly ManifestProblem[]
  /** The deprecated API versions of resources, by their keys. */
  readonly deprecatedVersions: ReadonlyMap<ResourceKey, string>
  /** Documents that are not for Weir. */
  readonly foreignDocuments: readonly ManifestProblem[]
  /**
   * The position of the first of these fields that a resource has, such as `spec.config[batch.size]`; without a field, of
   * the resource. `spec.schemaFrom` is where the ConfigMap has the schema, if it is in the directory.
   */
  locate(key: ResourceKey, ...fields: readonly string[]): FilePosition
}

type ParsedFile = Manifests & { readonly path: string; readonly text: () => string }

/** Reads all manifests below a directory. Links that lead out of it are not followed. */
export async function readManifestDirectory(root: string): Promise<ManifestDirectory> {
  const folder = await readManifestFolder(root, EMPTY_FOLDER)
  const files = [...folder.files.values()].map((file): ParsedFile => {
    const text = () => readFileSync(join(root, file.path), 'utf8')
    const problem = problemOfPath(root, file.path)
    if (problem === undefined) return { ...file, text }
    const manifestErrors = [{ file: file.path, message: problem }]
    return { path: file.path, text, resources: [], configMaps: [], manifestErrors }
  })
  return toDirectory(files, folder.manifestErrors)
}

/** Why the content of a file must not be used, although it was read. */
function problemOfPath(root: string, path: string): string | undefined {
  try {
    const isInside = realpathSync.native(join(root, path)).startsWith(`${realpathSync.native(root)}${sep}`)
    return isInside ? undefined : 'is a link to a file outside of the directory: copy the file'
  } catch (error) {
    const isRemoved = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return isRemoved ? 'was removed while it was read' : `cannot be read: ${messageOf(error)}`
  }
}

/** The same for files in memory, such as those of a git revision. */
export function manifestDirectoryOf(files: readonly { readonly path: string; readonly text: string }[]) {
  return toDirectory(
    files.map(({ path, text }) => ({ path, text: () => text, ...readManifests(text, path) })),
    [],
  )
}

/** Where a document begins. */
type Origin = { readonly file: ParsedFile; readonly line: number }

function toDirectory(files: readonly ParsedFile[], folderErrors: Manifests['manifestErrors']): ManifestDirectory {
  const origins = new Map<string, Origin>()
  const resources = new Map<ResourceKey, DeclaredResource>()
  const problems: ManifestProblem[] = []
  const configMaps = new Map<string, Readonly<Record<string, string>>>()
  const deprecatedVersions = new Map<ResourceKey, string>()
  const errors = [...folderErrors, ...files.flatMap(({ manifestErrors }) => manifestErrors)]
  /** Whether this is the first declaration of an object. Another one is a problem. */
  const isFirst = (key: string, file: ParsedFile, line: number) => {
    const known = origins.get(key)
    if (known === undefined) {
      origins.set(key, { file, line })
      return true
    }
    const message = `${key} is declared in ${known.file.path}:${known.line} already: rename or remove one of them`
    problems.push({ file: file.path, line, column: 1, message })
    return false
  }
  for (const file of files) {
    for (const { namespace, name, data, line } of file.configMaps) {
      if (isFirst(configMapKey(namespace, name), file, line)) configMaps.set(`${namespace}/${name}`, data)
    }
    for (const { declared, line, deprecatedVersion } of file.resources) {
      const key = resourceKey(declared.kind, declared.namespace, declared.name)
      if (!isFirst(key, file, line)) continue
      resources.set(key, declared)
      if (deprecatedVersion !== undefined) deprecatedVersions.set(key, deprecatedVersion)
    }
  }
  const isForeign = (error: Manifests['manifestErrors'][number]) => error.isForeign === true
  const toProblem = ({ file, line = 1, column = 1, message }: Manifests['manifestErrors'][number]) => {
    return { file, line, column, message }
  }
  const positions = new FieldPositions()
  return {
    resources: [...resources.values()],
    configMaps,
    deprecatedVersions,
    fileCount: files.length,
    problems: [...errors.filter((error) => !isForeign(error)).map(toProblem), ...problems],
    foreignDocuments: errors.filter(isForeign).map(toProblem),
    locate(key, ...fields) {
      const declared = resources.get(key)!
      const origin = origins.get(key)!
      const field = fields.find((one) => isDeclared(declared, one)) ?? fields[0]
      if (field === undefined) return { file: origin.file.path, line: origin.line, column: 1 }
      const input = field === 'spec.schemaFrom' ? schemaInput(declared) : undefined
      const inputOrigin = input && origins.get(input.configMap)
      return inputOrigin === undefined
        ? positions.find(origin, pathOfField(field))
        : positions.find(inputOrigin, ['data', input!.key])
    },
  }
}

function configMapKey(namespace: string, name: string): string {
  return `ConfigMap/${namespace}/${name}`
}

/** The ConfigMap from which a Subject takes its schema. */
function schemaInput({ kind, namespace, spec }: DeclaredResource) {
  const source = kind === 'Subject' ? spec.schemaFrom?.configMapKeyRef : undefined
  return source && { configMap: configMapKey(namespace, source.name), key: source.key }
}

/** Whether a manifest has a field of `spec`. A list that is absent is read as an empty one. */
function isDeclared({ spec }: DeclaredResource, field: string): boolean {
  const [, name = ''] = pathOfField(field)
  const value = (spec as Readonly<Record<string, unknown>>)[name]
  return value !== undefined && !(Array.isArray(value) && value.length === 0)
}

/**
 * Finds fields in files, which are parsed again, so that positions need no memory until a field is invalid. The documents
 * of the last file are kept for further fields.
 */
class FieldPositions {
  #file: ParsedFile | undefined
  #documents: ReadonlyMap<number, YamlDocument> = new Map()

  find({ file, line }: Origin, path: DocumentPath): FilePosition {
    if (this.#file !== file) {
      this.#file = file
      this.#documents = new Map(documentsOf(file).map((document) => [document.start.line, document]))
    }
    return { file: file.path, ...(this.#documents.get(line)?.positionOf(path) ?? { line, column: 1 }) }
  }
}

function documentsOf({ text }: ParsedFile): readonly YamlDocument[] {
  try {
    return parseYamlDocuments(text())
  } catch {
    // The file was removed after its resources were read.
    return []
  }
}

/** The path of `spec.config[batch.size]`: a key in brackets may contain dots. */
function pathOfField(field: string): readonly string[] {
  const [, fields = field, key] = /^([^[]*)\[(.*)\]$/s.exec(field) ?? []
  return [...fields.split('.'), ...(key === undefined ? [] : [key])]
}
