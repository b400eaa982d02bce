import type { MessagePort, Transferable } from 'node:worker_threads'
import { messageOf } from '../../common/errors.ts'
import { Semaphore } from '../../common/semaphore.ts'
import type { BrokerBackend } from '../broker-backend.ts'
import { BrokerError, type BrokerErrorData } from '../broker-error.ts'

/** All calls of a backend except `close`: closing the port does not close the backend. */
type Call = Exclude<keyof BrokerBackend, 'close'>

type Request = { readonly id: number; readonly call: Call; readonly argument: unknown }
type Response =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: BrokerErrorData | { readonly code: undefined; readonly message: string } }

const CALLS: Readonly<Record<Call, true>> = {
  clusterId: true,
  checkRights: true,
  metadata: true,
  topicId: true,
  createTopic: true,
  deleteTopic: true,
  addPartitions: true,
  topicConfigs: true,
  topicConfigValues: true,
  replicaSizes: true,
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

const OUTSTANDING_MAX = 1_000
/** Large enough for thousands of tasks that start at the same time and send a request each. */
const WAITING_MAX = 10_000

/** Serves the calls that arrive through `port` until either side closes it. */
export function serveBackend(backend: BrokerBackend, port: MessagePort): void {
  const calls = backend as unknown as Readonly<Record<Call, (argument: unknown) => Promise<unknown>>>
  const respond = async ({ id, call, argument }: Request): Promise<void> => {
    try {
      // Fetched bytes belong to the caller; the backend may keep references to other data.
      const { message, transfer } = toMessage(await calls[call](argument), call === 'fetch' ? 'give' : 'keep')
      port.postMessage({ id, value: message } satisfies Response, transfer)
    } catch (error) {
      const { code, right } = error instanceof BrokerError ? error : {}
      const data = code === undefined ? { code, message: messageOf(error) } : { code, message: messageOf(error), right }
      port.postMessage({ id, error: data } satisfies Response)
    }
  }
  port.on('message', (request: Request) => void respond(request))
}

/**
 * A backend that forwards calls to `serveBackend` at the other end of `port`. While 1,000 calls are outstanding, further
 * ones wait for their turn. A call rejects with `closed` when the port is closed, and with `unavailable` while 10,000 wait.
 */
export function connectThreadBackend(port: MessagePort): BrokerBackend {
  const link = new ThreadLink(port)
  const calls = Object.keys(CALLS).map((call) => [call, (argument: unknown) => link.call(call as Call, argument)])
  return { ...Object.fromEntries(calls), close: async () => port.close() } as BrokerBackend
}

class ThreadLink {
  readonly #port: MessagePort
  readonly #outstanding = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #turns = new Semaphore(OUTSTANDING_MAX, {
    waitingMax: WAITING_MAX,
    full: () => new BrokerError('unavailable', `${WAITING_MAX} calls wait for their turn: call later`),
  })
  #nextId = 0
  #open = true

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', (response: Response) => this.#settle(response))
    port.on('close', () => this.#close())
  }

  call(call: Call, argument: unknown): Promise<unknown> {
    return this.#turns.run(() => {
      if (!this.#open) throw closed()
      const id = this.#nextId++
      const pending = Promise.withResolvers<unknown>()
      const { message, transfer } = toMessage(argument, 'keep')
      this.#port.postMessage({ id, call, argument: message } satisfies Request, transfer)
      this.#outstanding.set(id, pending)
      return pending.promise
    })
  }

  #settle(response: Response): void {
    const pending = this.#outstanding.get(response.id)
    this.#outstanding.delete(response.id)
    if ('value' in response) pending?.resolve(response.value)
    else pending?.reject(toError(response.error))
  }

  #close(): void {
    this.#open = false
    for (const pending of this.#outstanding.values()) pending.reject(closed())
    this.#outstanding.clear()
  }
}

function closed(): BrokerError {
  return new BrokerError('closed', 'the connection to the broker thread is closed')
}

function toError(error: Extract<Response, { error: unknown }>['error']): Error {
  return error.code === undefined ? new Error(error.message) : BrokerError.of(error)
}

/**
 * Prepares data for `postMessage`: byte arrays are transferred instead of cloned. Bytes that the sender keeps (a
 * producer may resend them) and parts of larger buffers are copied first.
 */
function toMessage(
  data: unknown,
  bytes: 'give' | 'keep',
): { readonly message: unknown; readonly transfer: Transferable[] } {
  const transfer = new Set<ArrayBuffer>()
  const convert = (value: unknown): unknown => {
    if (value instanceof Uint8Array) {
      const whole = value.buffer instanceof ArrayBuffer && value.byteLength === value.buffer.byteLength
      const own = bytes === 'give' && whole ? new Uint8Array(value.buffer as ArrayBuffer) : new Uint8Array(value)
      transfer.add(own.buffer)
      return own
    }
    if (Array.isArray(value)) return value.map(convert)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, convert(entry)]))
  }
  return { message: convert(data), transfer: [...transfer] }
}
