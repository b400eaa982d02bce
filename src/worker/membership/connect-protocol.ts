import type { TaskId } from '../../clients/worker-client.ts'

// The messages that workers of a group exchange through the group coordinator: Kafka Connect's protocols `compatible`
// (version 1) and `sessioned` (version 2). Both have the same format; `sessioned` requires signed internal requests.

/** The work of one worker: connectors by name, and tasks. */
export type ConnectorsAndTasks = { readonly connectors: readonly string[]; readonly tasks: readonly TaskId[] }

export type WorkerMetadata = {
  /** URL of its REST API, with a trailing slash. */
  readonly url: string
  /** The offset up to which it has read the config topic. */
  readonly configOffset: number
  /** Its last assignment, with all its current work as `assigned`; null when it has none. */
  readonly assignment: WorkerAssignment | null
}

export const ASSIGNMENT_ERROR = { none: 0, configMismatch: 1 } as const

export type WorkerAssignment = {
  readonly error: number
  readonly leaderId: string
  readonly leaderUrl: string
  readonly configOffset: number
  /** Work to start, in addition to the current work. */
  readonly assigned: ConnectorsAndTasks
  /** Work to stop. */
  readonly revoked: ConnectorsAndTasks
  /** Time until lost work is reassigned, in ms; 0 when no work is delayed. */
  readonly delayMs: number
}

export const PROTOCOL_VERSION = { compatible: 1, sessioned: 2 } as const
export type ProtocolName = keyof typeof PROTOCOL_VERSION

export const NO_WORK: ConnectorsAndTasks = { connectors: [], tasks: [] }

export function encodeWorkerMetadata(
  protocol: ProtocolName,
  { url, configOffset, assignment }: WorkerMetadata,
): Buffer {
  const to = new Writer().int16(PROTOCOL_VERSION[protocol]).string(url).int64(configOffset)
  return to.bytes(assignment && encodeWorkerAssignment(protocol, assignment)).done()
}

/** Throws when the bytes are truncated or the version is negative. */
export function parseWorkerMetadata(bytes: Uint8Array): WorkerMetadata {
  const from = new Parser(bytes)
  from.version()
  const url = from.string()
  const configOffset = from.int64()
  const allocation = from.isAtEnd() ? null : from.bytes()
  return { url, configOffset, assignment: allocation && parseWorkerAssignment(allocation) }
}

export function encodeWorkerAssignment(protocol: ProtocolName, assignment: WorkerAssignment): Buffer {
  const to = new Writer()
    .int16(PROTOCOL_VERSION[protocol])
    .int16(assignment.error)
    .string(assignment.leaderId)
    .string(assignment.leaderUrl)
    .int64(assignment.configOffset)
  to.raw(encodedWork(assignment.assigned)).raw(encodedWork(assignment.revoked))
  return to.int32(assignment.delayMs).done()
}

/** Throws when the bytes are truncated or the version is negative. */
export function parseWorkerAssignment(bytes: Uint8Array): WorkerAssignment {
  const from = new Parser(bytes)
  from.version()
  return {
    error: from.int16(),
    leaderId: from.string(),
    leaderUrl: from.string(),
    configOffset: from.int64(),
    assigned: readWork(from),
    revoked: from.isAtEnd() ? NO_WORK : readWork(from),
    delayMs: from.isAtEnd() ? 0 : from.int32(),
  }
}

/** The task number that denotes the connector itself. */
const CONNECTOR = -1

/** A worker encodes its work for each protocol that it offers. */
const encoded = new WeakMap<ConnectorsAndTasks, Buffer>()

function encodedWork(work: ConnectorsAndTasks): Buffer {
  const known = encoded.get(work)
  if (known !== undefined) return known
  const bytes = encodeWork(work)
  encoded.set(work, bytes)
  return bytes
}

function encodeWork({ connectors, tasks }: ConnectorsAndTasks): Buffer {
  const to = new Writer()
  const groups = new Map<string, number[]>(connectors.map((connector) => [connector, [CONNECTOR]]))
  for (const { connector, task } of tasks) {
    const group = groups.get(connector)
    if (group) group.push(task)
    else groups.set(connector, [task])
  }
  to.int32(groups.size)
  for (const [connector, numbers] of groups) {
    to.string(connector).int32(numbers.length)
    for (const number of numbers) to.int32(number)
  }
  return to.done()
}

function readWork(from: Parser): ConnectorsAndTasks {
  const connectors: string[] = []
  const tasks: TaskId[] = []
  for (let groups = from.int32(); groups > 0; groups--) {
    const connector = from.string()
    for (let count = from.int32(); count > 0; count--) {
      const task = from.int32()
      if (task === CONNECTOR) connectors.push(connector)
      else tasks.push({ connector, task })
    }
  }
  return { connectors, tasks }
}

/** Writes into one buffer that grows as needed. */
class Writer {
  #bytes = Buffer.allocUnsafe(256)
  #end = 0

  int16(value: number): this {
    const at = this.#take(2)
    this.#bytes.writeInt16BE(value, at)
    return this
  }

  int32(value: number): this {
    const at = this.#take(4)
    this.#bytes.writeInt32BE(value, at)
    return this
  }

  int64(value: number): this {
    const at = this.#take(8)
    this.#bytes.writeBigInt64BE(BigInt(value), at)
    return this
  }

  string(value: string): this {
    const length = Buffer.byteLength(value)
    this.int16(length)
    const at = this.#take(length)
    this.#bytes.write(value, at)
    return this
  }

  bytes(value: Buffer | null): this {
    return value === null ? this.int32(-1) : this.int32(value.length).raw(value)
  }

  raw(value: Buffer): this {
    const at = this.#take(value.length)
    value.copy(this.#bytes, at)
    return this
  }

  done(): Buffer {
    return this.#bytes.subarray(0, this.#end)
  }

  /** Reserves `length` bytes and returns their position. */
  #take(length: number): number {
    const start = this.#end
    this.#end += length
    if (this.#end > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * this.#end)
      this.#bytes.copy(larger, 0, 0, start)
      this.#bytes = larger
    }
    return start
  }
}

class Parser {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  version(): number {
    const version = this.int16()
    if (version < 0) throw new Error(`unsupported version ${version} of a group protocol message`)
    return version
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#advance(2))
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#advance(4))
  }

  int64(): number {
    return Number(this.#bytes.readBigInt64BE(this.#advance(8)))
  }

  string(): string {
    return this.#slice(this.int16()).toString()
  }

  bytes(): Buffer | null {
    const length = this.int32()
    return length < 0 ? null : this.#slice(length)
  }

  #slice(length: number): Buffer {
    const start = this.#advance(length)
    if (this.#at > this.#bytes.length) throw new Error('a group protocol message is truncated')
    return this.#bytes.subarray(start, this.#at)
  }

  #advance(by: number): number {
    const start = this.#at
    this.#at += by
    return start
  }
}
