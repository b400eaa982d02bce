import { setTimeout as delay } from 'node:timers/promises'
import type {
  BackendRequest,
  BrokerBackend,
  FetchedPartition,
  PartitionError,
} from '../../src/broker/broker-backend.ts'
import { BrokerError } from '../../src/broker/broker-error.ts'
import { batchesOf } from '../../src/broker/record-batch/batch-header.ts'
import { recordsOf } from '../../src/broker/record-batch/record-batch.ts'
import type { Clock } from '../../src/common/clock.ts'

/**
 * The fault of one call: the connection breaks before or after the call was executed (the caller cannot know which),
 * the node is not the leader or does not know the topic, or the response is truncated within a batch, but never within
 * the first one (KIP-74).
 */
export type Fault = 'none' | 'broken before' | 'broken after' | 'not leader' | 'missing' | 'cut short'

/** Calls that wait for other members or for records, and so are not serialized with other calls. */
const HELD_BACK: ReadonlySet<keyof BrokerBackend> = new Set(['joinGroup', 'syncGroup', 'fetch', 'close'])

/** A backend whose calls fail as `next` decides. Calls are executed in order, as on one connection. */
export function createFaultyBackend(backend: BrokerBackend, next: (call: keyof BrokerBackend) => Fault): BrokerBackend {
  let turn: Promise<unknown> = Promise.resolve()
  const carryOut = async (name: keyof BrokerBackend, request: unknown): Promise<unknown> => {
    const call = backend[name].bind(backend) as (request: unknown) => Promise<unknown>
    const fault = next(name)
    if (fault === 'broken before') throw broken()
    if (fault === 'not leader' || fault === 'missing') return refusal(name, request, ERRORS[fault])
    const answer = await call(request)
    if (fault === 'broken after') throw broken()
    return fault === 'cut short' && name === 'fetch' ? cutShort(answer as readonly FetchedPartition[]) : answer
  }
  return new Proxy(backend, {
    get: (_, name: keyof BrokerBackend) => (request: unknown) => {
      if (HELD_BACK.has(name)) return carryOut(name, request)
      const answer = turn.then(() => carryOut(name, request))
      turn = answer.catch(() => undefined)
      return answer
    },
  })
}

/** A backend that rejects each batch with a record whose value `isRefused`, and reports these records. */
export function createStrictBackend(backend: BrokerBackend, isRefused: (value: string) => boolean): BrokerBackend {
  const produce: BrokerBackend['produce'] = async (request) => {
    const looked = await Promise.all(
      request.batches.map(async (batch) => {
        const records = (await Promise.all([...batchesOf(batch.bytes)].map((one) => recordsOf(one)))).flat()
        return {
          batch,
          rejectedRecords: records.flatMap(({ value }, place) => (isRefused(String(value)) ? [place] : [])),
        }
      }),
    )
    const batches = looked.filter(({ rejectedRecords }) => rejectedRecords.length === 0).map(({ batch }) => batch)
    const stored = batches.length === 0 ? [] : await backend.produce({ ...request, batches })
    const error = { code: 'invalid_record', message: 'INVALID_RECORD' } as const
    const refusals = looked
      .filter(({ rejectedRecords }) => rejectedRecords.length > 0)
      .map(({ batch: { topic, partition }, rejectedRecords }) => ({
        topic,
        partition,
        baseOffset: -1,
        error,
        rejectedRecords,
      }))
    return [...stored, ...refusals]
  }
  return new Proxy(backend, {
    get: (_, name: keyof BrokerBackend) => (name === 'produce' ? produce : backend[name].bind(backend)),
  })
}

/** A clock whose sleeps take about 1 ms of real time, but advance the clock by the requested time. */
export function fastClock(): Clock {
  let nowMs = 0
  const limits = new Map<() => void, number>()
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async (ms, signal) => {
      if (signal !== undefined && ms > PAUSE_MS_MAX) return untilPassed(limits, nowMs + ms, signal)
      await delay(1)
      signal?.throwIfAborted()
      nowMs += ms
      for (const [pass, untilMs] of limits) if (untilMs <= nowMs) pass()
    },
  }
}

/** A longer sleep that can be aborted is a time limit: it ends when shorter ones have taken that time. */
const PAUSE_MS_MAX = 1_000

function untilPassed(limits: Map<() => void, number>, untilMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const pass = () => {
      limits.delete(pass)
      signal.removeEventListener('abort', abort)
      resolve()
    }
    const abort = () => {
      limits.delete(pass)
      reject(signal.reason)
    }
    limits.set(pass, untilMs)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })
}

const ERRORS = {
  'not leader': { code: 'not_leader', message: 'NOT_LEADER_OR_FOLLOWER' },
  missing: { code: 'topic_not_found', message: 'UNKNOWN_TOPIC_OR_PARTITION' },
} as const

function refusal(name: keyof BrokerBackend, request: unknown, error: PartitionError): unknown {
  if (name === 'metadata' && error.code === 'topic_not_found') return []
  if (name === 'produce') {
    const { batches } = request as BackendRequest<'produce'>
    return batches.map(({ topic, partition }) => ({ topic, partition, baseOffset: -1, error }))
  }
  if (name === 'fetch') {
    const { partitions } = request as BackendRequest<'fetch'>
    const nothing = { bytes: Buffer.alloc(0), endOffset: -1, startOffset: -1, aborted: [] }
    return partitions.map(({ topic, partition }) => ({ topic, partition, ...nothing, error }))
  }
  throw new BrokerError(error.code, error.message)
}

function cutShort(answer: readonly FetchedPartition[]): readonly FetchedPartition[] {
  return answer.map((one) => {
    const [first] = batchesOf(one.bytes)
    const length = Math.max(first?.bytes.length ?? 0, Math.floor(one.bytes.length * 0.7))
    return { ...one, bytes: one.bytes.subarray(0, length) }
  })
}

function broken(): BrokerError {
  return new BrokerError('unavailable', 'the connection broke off')
}
