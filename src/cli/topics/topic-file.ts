import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { z } from 'zod'
import type { StoredRecord } from '../../broker/broker.ts'
import { messageOf, systemErrorCode, UserError } from '../../common/errors.ts'

// A backup of a topic: one JSON value per line. The first line describes the topic, each further line is a record, and the
// last line has the number of records and the SHA-256 of all lines before it.

const FORMAT = 'weir-topic-1'
/** The first bytes of every backup. */
const BEGINNING = `{"format":"${FORMAT}",`
const PARTIAL_SUFFIX = '.partial'

const headSpec = z.strictObject({
  format: z.literal(FORMAT),
  topic: z.string(),
  partitions: z.int().min(1),
  cleanupPolicy: z.string(),
  /** What was set on the topic itself. Absent in older backups. */
  configs: z.record(z.string(), z.string()).optional(),
})
const base64 = z.base64().nullable()
const recordSpec = z.tuple([z.int().min(0), z.number(), base64, base64, z.array(z.tuple([z.string(), base64]))])
const endSpec = z.strictObject({ records: z.int().min(0), sha256: z.string() })

export type TopicHead = Omit<z.infer<typeof headSpec>, 'format'>
export type BackedUpRecord = Omit<StoredRecord, 'offset'> & { readonly partition: number }

/** Writes a backup under another name, and renames it when it is complete. */
export class TopicFileWriter {
  readonly #path: string
  readonly #file: FileHandle
  readonly #hash: Hash = createHash('sha256')
  #records = 0

  private constructor(path: string, file: FileHandle) {
    this.#path = path
    this.#file = file
  }

  /** Rejects with a `UserError` if the path is in use by anything else than an earlier backup, which is replaced. */
  static async create(path: string): Promise<TopicFileWriter> {
    await checkReplaceable(path)
    return new TopicFileWriter(path, await open(`${path}${PARTIAL_SUFFIX}`, 'w', 0o600))
  }

  /** Must be called first. */
  async begin(head: TopicHead): Promise<void> {
    await this.#write(`${JSON.stringify({ format: FORMAT, ...head })}\n`)
  }

  async append(records: readonly BackedUpRecord[]): Promise<void> {
    const lines = records.map(({ partition, timestampMs, key, value, headers }) => {
      const shown = headers.map(([name, bytes]) => [name, toBase64(bytes)])
      return `${JSON.stringify([partition, timestampMs, toBase64(key), toBase64(value), shown])}\n`
    })
    this.#records += records.length
    await this.#write(lines.join(''))
  }

  /** Resolves to the number of records. */
  async complete(): Promise<number> {
    const end = { records: this.#records, sha256: this.#hash.copy().digest('hex') }
    await this.#write(`${JSON.stringify(end)}\n`)
    await this.#file.sync()
    await this.#file.close()
    await rename(`${this.#path}${PARTIAL_SUFFIX}`, this.#path)
    return this.#records
  }

  async discard(): Promise<void> {
    await this.#file.close()
    await rm(`${this.#path}${PARTIAL_SUFFIX}`, { force: true })
  }

  async #write(text: string): Promise<void> {
    this.#hash.update(text)
    await this.#file.writeFile(text)
  }
}

async function checkReplaceable(path: string): Promise<void> {
  try {
    const known = await stat(path)
    if (known.isFile() && (known.size === 0 || (await beginsAsBackup(path)))) return
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return
    throw error
  }
  throw new UserError('not_replaced', `${path} exists and is not a backup of a topic: give another file`)
}

async function beginsAsBackup(path: string): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(BEGINNING.length), 0, BEGINNING.length, 0)
    return buffer.toString('latin1', 0, bytesRead) === BEGINNING
  } finally {
    await file.close()
  }
}

/** Reads a backup. Throws a `UserError` with the code `unreadable_dump` if it is damaged or not complete. */
export async function* readTopicFile(path: string): AsyncGenerator<TopicHead | BackedUpRecord> {
  const hash = createHash('sha256')
  let previous: string | undefined
  let lines = 0
  let partitions = 0
  try {
    for await (const line of linesOf(path)) {
      if (previous !== undefined) {
        hash.update(`${previous}\n`)
        if (lines === 1) {
          const { format: _, ...head } = headSpec.parse(JSON.parse(previous))
          partitions = head.partitions
          yield head
        } else yield toRecord(previous, partitions)
      }
      previous = line
      lines += 1
    }
    const end = endSpec.parse(JSON.parse(previous ?? ''))
    if (end.records !== lines - 2) throw new Error(`it has ${lines - 2} records, expected ${end.records}`)
    if (end.sha256 !== hash.digest('hex')) throw new Error('its checksum differs: it was changed or damaged')
  } catch (error) {
    const reason = error instanceof z.ZodError ? `line ${lines}: ${error.issues[0]?.message}` : messageOf(error)
    throw new UserError('unreadable_dump', `${path} is not a complete backup of a topic: ${reason}`)
  }
}

/** Ends lines at line breaks only. Node's `readline` also does so at U+2028, which the name of a header may contain. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let pieces: string[] = []
  for await (const chunk of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const [first = '', ...others] = chunk.split('\n')
    pieces.push(first)
    for (const next of others) {
      yield pieces.join('').replace(/\r$/, '')
      pieces = [next]
    }
  }
  const last = pieces.join('')
  if (last !== '') yield last
}

/** Reads the whole backup once, so that nothing is written from a damaged one. */
export async function verifyTopicFile(path: string): Promise<TopicHead> {
  let head: TopicHead | undefined
  for await (const item of readTopicFile(path)) head ??= item as TopicHead
  return head!
}

function toRecord(line: string, partitions: number): BackedUpRecord {
  const [partition, timestampMs, key, value, headers] = recordSpec.parse(JSON.parse(line))
  if (partition >= partitions) throw new Error(`a record is in partition ${partition} of ${partitions}`)
  return {
    partition,
    timestampMs,
    key: fromBase64(key),
    value: fromBase64(value),
    headers: headers.map(([name, bytes]) => [name, fromBase64(bytes)] as const),
  }
}

function toBase64(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('base64')
}

function fromBase64(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text, 'base64')
}
