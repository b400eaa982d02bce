import type { MessagePort, Transferable } from 'node:worker_threads'
import { messageOf } from '../../config/errors.ts'
import type { BrokerBackend } from '../backend.ts'
import { BrokerError, type BrokerErrorCode } from '../error.ts'

/** All calls of a backend except `close`: closing the port does not close the backend. */
type Call = Exclude<keyof BrokerBackend, 'close'>

type Request = { readonly id: number; readonly call: Call; readonly argument: unknown }
type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: { readonly code: BrokerErrorCode | undefined; readonly message: string } }

const CALLS: Readonly<Record<Call, true>> = {
  clusterId: true,
  metadata: true,
  topicId: true,
  createTopic: true,
  deleteTopic: true,
  addPartitions: true,
  topicConfigs: true,
  setTopicConfigs: true,
  listOffsets: true,
  produce: true,
  fetch: true,
  initProducer: true,
  hasTransactionalId: true,
  addPartitionsToTransaction: true,
  commitOffsetsInTransaction: true,
  endTransaction: true,
  joinGroup: true,
  syncGroup: true,
  heartbeat: true,
  leaveGroup: true,
  commitOffsets: true,
  groupOffsets: true,
  listGroups: true,
  describeGroup: true,
  deleteGroupOffsets: true,
  deleteGroup: true,
}

const OUTSTANDING_MAX = 1000

/** Serves the calls that arrive through `port` until either side closes it. */
export function serveBackend(home: BrokerBackend, port: MessagePort): void {
  const calls = home as unknown as Readonly<Record<Call, (argument: unknown) => Promise<unknown>>>
  const answer = async ({ id, call, argument }: Request): Promise<void> => {
    try {
      // Fetched bytes belong to the caller; the backend may keep references to other data.
      const { message, transfer } = pack(await calls[call](argument), call === 'fetch' ? 'give' : 'keep')
      port.postMessage({ id, value: message } satisfies Answer, transfer)
    } catch (error) {
      const code = error instanceof BrokerError ? error.code : undefined
      port.postMessage({ id, error: { code, message: messageOf(error) } } satisfies Answer)
    }
  }
  port.on('message', (request: Request) => void answer(request))
}

/**
 * A backend that forwards calls to `serveBackend` at the other end of `port`. A call rejects with `closed` when the
 * port is closed, and with `unavailable` while 1,000 calls are outstanding.
 */
export function connectThreadBackend(port: MessagePort): BrokerBackend {
  const link = new ThreadLink(port)
  const calls = Object.keys(CALLS).map((call) => [call, (argument: unknown) => link.call(call as Call, argument)])
  return { ...Object.fromEntries(calls), close: async () => port.close() } as BrokerBackend
}

class ThreadLink {
  readonly #port: MessagePort
  readonly #outstanding = new Map<number, PromiseWithResolvers<unknown>>()
  #nextId = 0
  #open = true

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', (answer: Answer) => this.#settle(answer))
    port.on('close', () => this.#close())
  }

  call(call: Call, argument: unknown): Promise<unknown> {
    if (!this.#open) return Promise.reject(closed())
    if (this.#outstanding.size >= OUTSTANDING_MAX) {
      return Promise.reject(new BrokerError('unavailable', `${OUTSTANDING_MAX} calls are outstanding`))
    }
    const id = this.#nextId++
    const pending = Promise.withResolvers<unknown>()
    this.#outstanding.set(id, pending)
    const { message, transfer } = pack(argument, 'keep')
    this.#port.postMessage({ id, call, argument: message } satisfies Request, transfer)
    return pending.promise
  }

  #settle(answer: Answer): void {
    const pending = this.#outstanding.get(answer.id)
    this.#outstanding.delete(answer.id)
    if ('value' in answer) pending?.resolve(answer.value)
    else pending?.reject(toError(answer.error))
  }

  #close(): void {
    this.#open = false
    for (const pending of this.#outstanding.values()) pending.reject(closed())
    this.#outstanding.clear()
  }
}

function closed(): BrokerError {
  return new BrokerError('closed', 'the connection to the thread of the broker is closed')
}

function toError({ code, message }: { readonly code: BrokerErrorCode | undefined; readonly message: string }): Error {
  return code === undefined ? new Error(message) : new BrokerError(code, message)
}

/**
 * Prepares data for `postMessage`: byte arrays are transferred instead of cloned. Bytes that the sender keeps (a
 * producer may resend them) and parts of larger buffers are copied first.
 */
function pack(data: unknown, bytes: 'give' | 'keep'): { readonly message: unknown; readonly transfer: Transferable[] } {
  const transfer = new Set<ArrayBuffer>()
  const walk = (value: unknown): unknown => {
    if (value instanceof Uint8Array) {
      const whole = value.buffer instanceof ArrayBuffer && value.byteLength === value.buffer.byteLength
      const own = bytes === 'give' && whole ? new Uint8Array(value.buffer as ArrayBuffer) : new Uint8Array(value)
      transfer.add(own.buffer)
      return own
    }
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, walk(entry)]))
  }
  return { message: walk(data), transfer: [...transfer] }
}
