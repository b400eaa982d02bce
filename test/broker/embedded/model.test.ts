import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { BrokerBackend, Transaction } from '../../../src/broker/broker-backend.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { propertyRuns } from '../../support/property-seed.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { batchOf, nextOffsetOf, recordsOf } from './batch.ts'

const PLACE = { topic: 't', partition: 0 }
const ID = 'x'

type Step =
  | { readonly do: 'append'; readonly keys: readonly string[]; readonly inTransaction: boolean }
  | { readonly do: 'settle'; readonly commit: boolean }
  | { readonly do: 'restart' }
  | { readonly do: 'clean' }

const keys = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('append' as const), keys, inTransaction: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('settle' as const), commit: fc.boolean() }) },
  { weight: 2, arbitrary: fc.constantFrom({ do: 'restart' as const }, { do: 'clean' as const }) },
)

/** The model of a compacted topic: its records by offset, and those of open transactions. */
class Model {
  end = 0
  readonly #records = new Map<number, { key: string; open: boolean }>()

  append(keys: readonly string[], open: boolean): void {
    for (const key of keys) this.#records.set(this.end++, { key, open })
  }

  settle(commit: boolean): void {
    for (const [offset, record] of this.#records) {
      if (!record.open) continue
      if (commit) record.open = false
      else this.#records.delete(offset)
    }
  }

  /** The last offset of each key below the first open record. */
  last(): Map<string, number> {
    const stable = [...this.#records].find(([, { open }]) => open)?.[0] ?? this.end
    return new Map([...this.#records].filter(([offset]) => offset < stable).map(([offset, { key }]) => [key, offset]))
  }

  has(offset: number): boolean {
    return this.#records.has(offset)
  }
}

/** The embedded broker that is compared with the model. */
class Subject {
  readonly model = new Model()
  readonly #directory = temporaryDirectory()
  readonly #clock = new FakeClock()
  #backend: BrokerBackend | undefined
  #transaction: (Transaction & { sequence: number }) | undefined

  async take(step: Step): Promise<void> {
    const backend = await this.#open()
    if (step.do === 'restart') return this.#restart()
    if (step.do === 'clean') return this.#clock.advance(16_000)
    if (step.do === 'settle') return this.#settle(backend, step.commit)
    const transaction = step.inTransaction ? await this.#begin(backend) : undefined
    const bytes = batchOf(
      step.keys.map((key) => ({ key, value: 'v' })),
      transaction ? { ...transaction, transactional: true } : {},
    )
    const batches = [{ ...PLACE, bytes }]
    const request = { node: 0, timeoutMs: 1, batches, ...(transaction ? { transactionalId: ID } : {}) }
    expect(await backend.produce(request)).toEqual([{ ...PLACE, baseOffset: this.model.end }])
    if (transaction) transaction.sequence += step.keys.length
    this.model.append(step.keys, step.inTransaction)
  }

  /** All records that a reader returns from the first offset. */
  async read(): Promise<{ key: string | null; offset: number }[]> {
    const backend = await this.#open()
    const request = { node: 0, waitMsMax: 0, bytesMin: 1, bytesMax: 200, isolation: 'read_committed' as const }
    const records: { key: string | null; offset: number }[] = []
    for (let offset = 0; ; ) {
      const [fetched] = await backend.fetch({ ...request, partitions: [{ ...PLACE, offset }] })
      expect(fetched!.error).toBeUndefined()
      records.push(...recordsOf(fetched!.bytes).filter((record) => record.offset >= offset))
      const next = nextOffsetOf(fetched!.bytes)
      if (next === undefined || next >= fetched!.endOffset) return records
      expect(next).toBeGreaterThan(offset)
      offset = next
    }
  }

  async close(): Promise<void> {
    await this.#backend?.close()
    this.#backend = undefined
  }

  async #open(): Promise<BrokerBackend> {
    this.#backend ??= await openEmbeddedBackend(this.#directory, { logger: silentLogger(), clock: this.#clock })
    await this.#backend.createTopic({ name: 't', configs: { 'cleanup.policy': 'compact' } })
    return this.#backend
  }

  async #restart(): Promise<void> {
    await this.close()
    this.#transaction = undefined
    this.model.settle(false)
  }

  async #begin(backend: BrokerBackend): Promise<Transaction & { sequence: number }> {
    if (this.#transaction === undefined) {
      const identity = await backend.initProducer({ transactionalId: ID, transactionTimeoutMs: 1e9 })
      this.#transaction = { ...identity, transactionalId: ID, sequence: 0 }
      await backend.addPartitionsToTransaction({ ...this.#transaction, partitions: [PLACE] })
    }
    return this.#transaction
  }

  async #settle(backend: BrokerBackend, commit: boolean): Promise<void> {
    if (this.#transaction === undefined) return
    await backend.endTransaction({ ...this.#transaction, commit })
    this.#transaction = undefined
    this.model.settle(commit)
  }
}

it('returns the records of a model log after any sequence of appends, commits, aborts, compactions and restarts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const subject = new Subject()
      try {
        for (const next of steps) {
          await subject.take(next)
          const records = await subject.read()
          const offsets = records.map(({ offset }) => offset)
          expect(offsets).toEqual([...offsets].sort((a, b) => a - b))
          expect(offsets.every((offset) => subject.model.has(offset))).toBe(true)
          expect(new Map(records.map(({ key, offset }) => [key, offset]))).toEqual(subject.model.last())
        }
      } finally {
        await subject.close()
      }
    }),
    { numRuns: propertyRuns(20) },
  )
}, 60_000)
