import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { COMPATIBILITY_LEVELS, REGISTRY_MODES } from '../../clients/registry-client.ts'
import { createDirectories } from '../../common/create-directories.ts'
import { messageOf, UserError } from '../../common/errors.ts'
import type { RegistryArchive } from './registry-archive.ts'

const FORMAT = 'weir-registry-1'
/** In a directory: holds the contexts, and marks a complete export. */
const HEAD_FILE = 'registry.json'
const SUBJECTS = 'subjects'
/** Suffix of files that are being written. */
const PARTIAL_SUFFIX = '.part'
const NAME_LENGTH_MAX = 100

const rules = z.array(z.record(z.string(), z.unknown())).optional()
const metadata = z.looseObject({
  tags: z.record(z.string(), z.array(z.string())).optional(),
  properties: z.record(z.string(), z.string()).optional(),
  sensitive: z.array(z.string()).optional(),
})
const ruleSet = z.looseObject({
  migrationRules: rules,
  domainRules: rules,
  encodingRules: rules,
  enableAt: z.string().optional(),
})
const settings = {
  config: z.looseObject({ compatibility: z.enum(COMPATIBILITY_LEVELS).optional() }).optional(),
  mode: z.enum(REGISTRY_MODES).optional(),
}
const version = z.strictObject({
  version: z.int().positive(),
  id: z.int().nonnegative(),
  schemaType: z.enum(['AVRO', 'JSON', 'PROTOBUF']).optional(),
  schema: z.string(),
  references: z.array(z.strictObject({ name: z.string(), subject: z.string(), version: z.int() })).optional(),
  metadata: metadata.optional(),
  ruleSet: ruleSet.optional(),
  deleted: z.literal(true).optional(),
})
const subjectSpec = z.strictObject({ subject: z.string(), ...settings, versions: z.array(version) })
const headSpec = z.strictObject({
  format: z.literal(FORMAT),
  contexts: z.array(z.strictObject({ context: z.string(), ...settings })),
})
const fileSpec = headSpec.extend({ subjects: z.array(subjectSpec) })

/** One file, or a directory with one file per subject, which is easier to compare in version control. */
export type ArchiveLocation = { readonly kind: 'file' | 'directory'; readonly path: string }

/** A path that does not exist yet is a file if it ends in `.json`, else a directory. */
export function archiveLocation(path: string): ArchiveLocation {
  const known = statSync(path, { throwIfNoEntry: false })
  const isFile = known ? !known.isDirectory() : path.endsWith('.json')
  return { kind: isFile ? 'file' : 'directory', path }
}

/** Throws a `UserError` when an export would replace anything else than an earlier export. */
export function checkExportTarget({ kind, path }: ArchiveLocation): void {
  const known = statSync(path, { throwIfNoEntry: false })
  if (known === undefined) return
  if (kind === 'file') {
    if (known.isFile() && (known.size === 0 || isExportFile(path))) return
    throw new UserError('usage', `${path} exists and is not an export: give another file, or a new directory`)
  }
  const own = [HEAD_FILE, SUBJECTS].flatMap((name) => [name, `${name}${PARTIAL_SUFFIX}`])
  if (readdirSync(path).some((name) => !name.startsWith('.') && !own.includes(name))) {
    throw new UserError('usage', `${path} contains other files than an export: give an empty or new directory`)
  }
}

function isExportFile(path: string): boolean {
  const text = readFileSync(path, 'utf8')
  try {
    return (JSON.parse(text) as { format?: unknown } | null)?.format === FORMAT
  } catch {
    return false
  }
}

/**
 * Replaces an earlier export. In a directory, the new export is complete under names with the suffix before anything of the
 * earlier one is deleted. So whenever it is interrupted, `readArchive` finds one of the two.
 */
export function writeArchive({ kind, path }: ArchiveLocation, { contexts, subjects }: RegistryArchive): void {
  if (kind === 'file') {
    replaceFile(path, { format: FORMAT, contexts, subjects })
    return
  }
  finishReplacement(path)
  const { head, subjects: next } = partialFilesIn(path)
  rmSync(head, { force: true })
  rmSync(next, { recursive: true, force: true })
  createDirectories(next)
  const files = subjects.map((subject) => {
    const file = join(next, fileNameOf(subject.subject))
    writeFileSync(file, toJsonText(subject))
    return file
  })
  // After all of them are written, because the first sync then writes most of them.
  for (const file of [...files, next]) sync(file)
  // Written last: with this file, the new export is complete.
  writeFileSync(head, toJsonText({ format: FORMAT, contexts }))
  for (const file of [head, path]) sync(file)
  rmSync(join(path, HEAD_FILE), { force: true })
  finishReplacement(path)
}

function partialFilesIn(path: string) {
  return { head: join(path, `${HEAD_FILE}${PARTIAL_SUFFIX}`), subjects: join(path, `${SUBJECTS}${PARTIAL_SUFFIX}`) }
}

/** The head and the subjects of the complete export in a directory. Undefined if there is none. */
function completeFilesIn(path: string): { readonly head: string; readonly subjects: string } | undefined {
  const [head, subjects, partial] = [join(path, HEAD_FILE), join(path, SUBJECTS), partialFilesIn(path)]
  if (existsSync(head)) return { head, subjects }
  if (!existsSync(partial.head)) return undefined
  return { head: partial.head, subjects: existsSync(partial.subjects) ? partial.subjects : subjects }
}

/** Renames the files of a complete export to their final names, if `writeArchive` was interrupted before it did. */
function finishReplacement(path: string): void {
  const [complete, partial, current] = [completeFilesIn(path), partialFilesIn(path), join(path, SUBJECTS)]
  if (complete?.head !== partial.head) return
  if (complete.subjects === partial.subjects) {
    rmSync(current, { recursive: true, force: true })
    renameSync(partial.subjects, current)
  }
  renameSync(partial.head, join(path, HEAD_FILE))
}

/** Throws a `UserError` with the code `unreadable_dump`. */
export function readArchive(path: string): RegistryArchive {
  const archive = parseArchive(path)
  const twice = repeatedIn(archive)
  if (twice !== undefined) throw unreadableArchive(path, `it contains ${twice} twice`)
  return archive
}

/** Returns what the archive contains twice, for example after a merge of two archives. An import would lose one of the two. */
function repeatedIn({ contexts, subjects }: RegistryArchive): string | undefined {
  const names = [
    ...contexts.map(({ context }) => `context ${context}`),
    ...subjects.flatMap(({ subject, versions }) => [
      `subject ${subject}`,
      ...versions.map(({ version }) => `version ${version} of subject ${subject}`),
    ]),
  ]
  const seen = new Set<string>()
  return names.find((name) => seen.size === seen.add(name).size)
}

function parseArchive(path: string): RegistryArchive {
  if (!statSync(path, { throwIfNoEntry: false })) throw unreadableArchive(path, 'no such file or directory')
  if (archiveLocation(path).kind === 'file') return parseFile(path, fileSpec) as RegistryArchive
  const complete = completeFilesIn(path)
  if (complete === undefined) {
    throw unreadableArchive(path, `${HEAD_FILE} is missing, so this is not an export or an incomplete one`)
  }
  const files = listFiles(complete.subjects).filter((name) => name.endsWith('.json'))
  const subjects = files.map((name) => parseFile(join(complete.subjects, name), subjectSpec))
  return { contexts: parseFile(complete.head, headSpec).contexts, subjects } as RegistryArchive
}

function listFiles(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    throw unreadableArchive(directory, messageOf(error))
  }
}

/** Readable, and unique on file systems that ignore case: other names than lower-case ones get a hash. */
function fileNameOf(subject: string): string {
  const readable = encodeURIComponent(subject).replaceAll('*', '%2A')
  const isSafe = readable.length <= NAME_LENGTH_MAX && readable === readable.toLowerCase() && readable !== ''
  const hash = isSafe ? '' : `~${createHash('sha256').update(subject).digest('hex').slice(0, 12)}`
  return `${readable.slice(0, NAME_LENGTH_MAX)}${hash}.json`
}

function replaceFile(path: string, content: object): void {
  createDirectories(dirname(path))
  writeFileSync(`${path}${PARTIAL_SUFFIX}`, toJsonText(content))
  sync(`${path}${PARTIAL_SUFFIX}`)
  renameSync(`${path}${PARTIAL_SUFFIX}`, path)
}

/** Writes a file or directory to disk, so that a power failure cannot reorder it with what follows. */
function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function toJsonText(content: object): string {
  return `${JSON.stringify(content, undefined, 2)}\n`
}

function parseFile<Spec extends z.ZodType>(path: string, spec: Spec): z.infer<Spec> {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw unreadableArchive(path, messageOf(error))
  }
  const result = spec.safeParse(content)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw unreadableArchive(path, `${issue?.path.join('.')}: ${issue?.message}`)
}

function unreadableArchive(path: string, reason: string): UserError<'unreadable_dump'> {
  return new UserError('unreadable_dump', `${path} cannot be imported: ${reason}`)
}
