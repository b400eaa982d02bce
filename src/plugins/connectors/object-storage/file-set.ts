import { DataError, type Schema, type SinkRecord } from '../../../sdk/index.ts'
import type { FileCompression } from './compression.ts'
import type { Boundary } from './file-boundaries.ts'
import type { FileEncoder } from './file-format.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { ObjectNames } from './object-names.ts'
import type { ObjectStore } from './object-store.ts'
import { OpenFile } from './open-file.ts'
import type { Placement } from './partitioner.ts'
import type { RecordPart } from './record-part.ts'
import type { SetProgress } from './rotation.ts'
import { type SchemaProjector, UNCHANGED } from './schema-compatibility.ts'

export type FileSetOptions = {
  readonly parts: readonly RecordPart[]
  readonly names: ObjectNames
  /** The schema of a record that its file must have; null if values of all schemas fit. */
  readonly schemaOf: (record: SinkRecord) => Schema | null
  readonly projector: SchemaProjector
  readonly compression: FileCompression | undefined
  /** Whether a file contains only the last of its records. */
  readonly keepsLatest: boolean
  readonly store: ObjectStore
  readonly memory: MemoryBudget
}

/** The files of one path: of values, and of keys and headers if they are stored. */
type FileGroup = {
  readonly schema: Schema | null
  readonly files: readonly { readonly part: RecordPart; readonly file: OpenFile }[]
  readonly firstOffset: number
  lastOffset: number
  records: number
}

/** The files of consecutive records of a topic partition. They become visible together, before the offset after them is committed. */
export class FileSet implements SetProgress {
  readonly #options: FileSetOptions
  readonly #groups = new Map<string, FileGroup>()
  /** The time that partitions records, if a clock does. */
  readonly clockMs: number | undefined
  readonly scheduledMs: number | undefined
  firstTimestampMs: number | undefined
  lastPath = ''
  records = 0
  /** Records of the file that has most. */
  fileRecords = 0
  lastPeriod = ''
  /** Set when no record is added any more. */
  boundary: Boundary | undefined
  /** Whether the boundary is in the metadata of a committed offset. */
  isRecorded = false

  constructor(
    options: FileSetOptions,
    { clockMs, scheduledMs }: { readonly clockMs: number | undefined; readonly scheduledMs: number | undefined },
  ) {
    this.#options = options
    this.clockMs = clockMs
    this.scheduledMs = scheduledMs
  }

  get files(): number {
    return this.#groups.size
  }

  get heldBytes(): number {
    let bytes = 0
    for (const { files } of this.#groups.values()) for (const { file } of files) bytes += file.heldBytes
    return bytes
  }

  /** Whether the record does not fit in the file of its path, so that the set must end before. Throws a `DataError`. */
  needsOtherSchema(record: SinkRecord, path: string): boolean {
    const { keepsLatest, projector, schemaOf } = this.#options
    const group = keepsLatest ? undefined : this.#groups.get(groupKey(record.topic, path))
    return group !== undefined && projector.conversion(schemaOf(record), group.schema) === undefined
  }

  hasFile(topic: string, path: string): boolean {
    return this.#groups.has(groupKey(topic, path))
  }

  /**
   * Adds a record to its files. Resolves later only if a file has enough bytes to be uploaded. Throws a `DataError` for a record that
   * cannot be stored, of which the files then contain nothing.
   */
  add(record: SinkRecord, { path, period, timestampMs }: Placement): Promise<void> | undefined {
    const key = groupKey(record.topic, path)
    const known = this.#groups.get(key)
    const isNew = known === undefined || this.#options.keepsLatest
    const group = isNew ? this.#openGroup(record, path) : known
    addToAll(group, this.#projected(record, group.schema))
    if (isNew) this.#groups.set(key, group)
    group.lastOffset = record.origin.offset
    group.records += 1
    this.records += 1
    this.fileRecords = Math.max(this.fileRecords, group.records)
    this.lastPath = path
    this.lastPeriod = period
    this.firstTimestampMs ??= timestampMs
    const replaced = isNew ? known : undefined
    if (replaced === undefined && !group.files.some(({ file }) => file.isFull)) return undefined
    return spillAll(group, replaced)
  }

  /** Uploads what is ready; for retries. */
  async spill(): Promise<void> {
    for (const group of this.#groups.values()) await spillAll(group)
  }

  /** Makes all files visible. Can be called again after an error. */
  async complete(forEach: (tasks: readonly (() => Promise<void>)[]) => Promise<void>): Promise<void> {
    const { names, store } = this.#options
    const groups = [...this.#groups.values()]
    await forEach(
      groups.flatMap(({ files }) =>
        files.map(
          ({ file }) =>
            () =>
              file.complete(),
        ),
      ),
    )
    if (!names.hasTags) return
    const tagged = groups.flatMap((group) =>
      group.files.map(
        ({ file }) =>
          () =>
            store.tag(file.key, names.tags(group)),
      ),
    )
    await forEach(tagged)
  }

  async abort(): Promise<void> {
    const files = [...this.#groups.values()].flatMap((group) => group.files)
    await Promise.allSettled(files.map(({ file }) => file.abort()))
  }

  /** With the schema of the file. */
  #projected(record: SinkRecord, schema: Schema | null): SinkRecord {
    const { projector, schemaOf } = this.#options
    const convert = projector.conversion(schemaOf(record), schema) ?? UNCHANGED
    return convert === UNCHANGED ? record : { ...record, value: convert(record.value), valueSchema: schema }
  }

  #openGroup(record: SinkRecord, path: string): FileGroup {
    const { parts, names, schemaOf, compression, store, memory } = this.#options
    const isTombstone = record.value === null || record.value === undefined
    const stored = isTombstone ? parts.filter(({ ofTombstones }) => ofTombstones) : parts
    const files = stored.map((part) => {
      const { format } = part
      const compressed = format.isCompressible ? compression : undefined
      const extension = `${part.extension}${format.extension}${compressed?.extension ?? ''}`
      const key = names.keyOf(record, path, extension)
      const encoder = openEncoder(() => format.open(part.of(record).schema, key))
      return {
        part,
        file: new OpenFile({ key, encoder, pieceBytes: format.pieceBytes, compression: compressed, store, memory }),
      }
    })
    const { offset } = record.origin
    return { schema: schemaOf(record), files, firstOffset: offset, lastOffset: offset, records: 0 }
  }
}

function groupKey(topic: string, path: string): string {
  return `${topic}\0${path}`
}

/** Adds a record to all files of a group or to none, so that their lines stay aligned. */
function addToAll({ files }: FileGroup, record: SinkRecord): void {
  const added: OpenFile[] = []
  try {
    for (const { part, file } of files) {
      const { value, schema } = part.of(record)
      file.add(value, schema)
      added.push(file)
    }
  } catch (error) {
    for (const file of added) file.removeLast()
    throw asDataError(error)
  }
}

/** `replaced`: files that are not needed any more. */
async function spillAll({ files }: FileGroup, replaced?: FileGroup): Promise<void> {
  for (const { file } of replaced?.files ?? []) await file.abort()
  for (const { file } of files) await file.spill()
}

function openEncoder(open: () => FileEncoder): FileEncoder {
  try {
    return open()
  } catch (error) {
    throw asDataError(error)
  }
}

/** Formats have errors of their own for values and schemas that they cannot represent. */
function asDataError(error: unknown): Error {
  if ((error as { readonly code?: unknown }).code === 'data') return error as Error
  return new DataError(`the record cannot be written: ${(error as Error).message}`, { cause: error })
}
