import { ProtocolReader, ProtocolWriter } from '../../broker/protocol-primitives.ts'
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
  const to = new ProtocolWriter().int16(PROTOCOL_VERSION[protocol]).string(url).int64(configOffset)
  if (assignment === null) return to.int32(-1).bytes
  const encoded = encodeWorkerAssignment(protocol, assignment)
  return to.int32(encoded.length).raw(encoded).bytes
}

/** Throws when the bytes are truncated or the version is negative. */
export function parseWorkerMetadata(bytes: Uint8Array): WorkerMetadata {
  const from = readerAfterVersion(bytes)
  const url = from.string()
  const configOffset = from.int64()
  const allocation = from.remaining === 0 ? null : from.nullableData()
  return { url, configOffset, assignment: allocation && parseWorkerAssignment(allocation) }
}

export function encodeWorkerAssignment(protocol: ProtocolName, assignment: WorkerAssignment): Buffer {
  const to = new ProtocolWriter()
    .int16(PROTOCOL_VERSION[protocol])
    .int16(assignment.error)
    .string(assignment.leaderId)
    .string(assignment.leaderUrl)
    .int64(assignment.configOffset)
  to.raw(encodedWork(assignment.assigned)).raw(encodedWork(assignment.revoked))
  return to.int32(assignment.delayMs).bytes
}

/** Throws when the bytes are truncated or the version is negative. */
export function parseWorkerAssignment(bytes: Uint8Array): WorkerAssignment {
  const from = readerAfterVersion(bytes)
  return {
    error: from.int16(),
    leaderId: from.string(),
    leaderUrl: from.string(),
    configOffset: from.int64(),
    assigned: readWork(from),
    revoked: from.remaining === 0 ? NO_WORK : readWork(from),
    delayMs: from.remaining === 0 ? 0 : from.int32(),
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
  const to = new ProtocolWriter()
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
  return to.bytes
}

function readWork(from: ProtocolReader): ConnectorsAndTasks {
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

/** Newer versions only append fields. */
function readerAfterVersion(bytes: Uint8Array): ProtocolReader {
  const reader = new ProtocolReader(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    (reason) => new Error(`a group protocol message ${reason}`),
  )
  const version = reader.int16()
  if (version < 0) throw reader.fault(`has the unsupported version ${version}`)
  return reader
}
