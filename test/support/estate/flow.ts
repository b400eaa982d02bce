import { join } from 'node:path'
import { expect } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { expectContinued, type LinePipe, NO_PROGRESS, type PipeProgress, readProgress } from '../line-pipe.ts'
import { lineNumber } from '../numbered-lines.ts'
import { readLatestValues, readRecords } from '../topic.ts'
import { FLOWING } from './connectors.ts'
import type { Estate } from './start-estate.ts'

/** How far a source of a Java plugin was: the records in its topic, and the position that follows its stored offset. */
type SourceProgress = { readonly records: number; readonly next: number }
export type FlowProgress = {
  readonly pipe: PipeProgress
  readonly numbers: SourceProgress
  readonly mirror: SourceProgress
}

export const NO_FLOW: FlowProgress = {
  pipe: NO_PROGRESS,
  numbers: { records: 0, next: 0 },
  mirror: { records: 0, next: 0 },
}

/** The connectors of an estate through which numbered records flow. */
export class EstateFlow {
  readonly pipe: LinePipe
  readonly #broker: Broker
  readonly #numbers: string
  readonly #replica: string
  readonly #offsets: string

  constructor(broker: Broker, { groupId, files }: Pick<Estate, 'groupId' | 'files'>) {
    this.#broker = broker
    this.pipe = {
      groupId,
      source: FLOWING.source,
      sink: FLOWING.sink,
      topic: `${groupId}-lines-0`,
      output: join(files, 'out-0.txt'),
    }
    this.#numbers = `${groupId}-numbers-0`
    this.#replica = `${groupId}-east.${groupId}-lines-0`
    this.#offsets = `${groupId}-offsets`
  }

  /** Read while a group has no worker, so that nothing changes. */
  async progress(): Promise<FlowProgress> {
    const pipe = await readProgress(this.#broker, this.pipe)
    return {
      pipe,
      numbers: { records: await this.#endOf(this.#numbers), next: await this.#nextOf(FLOWING.numbers, 'seqno') },
      mirror: { records: await this.#endOf(this.#replica), next: await this.#nextOf(FLOWING.mirror, 'offset') },
    }
  }

  /** The position after the stored offset of a source, whose member `field` has it. */
  async #nextOf(connector: string, field: string): Promise<number> {
    const stored = await readLatestValues(this.#broker, this.#offsets)
    const [, value] = [...stored].find(([key]) => JSON.parse(key)[0] === connector) ?? []
    return value ? JSON.parse(String(value))[field] + 1 : 0
  }

  /** Whether each of the connectors has produced records since then. */
  async hasMovedSince({ numbers, mirror, pipe }: FlowProgress): Promise<boolean> {
    const ends = await Promise.all([this.pipe.topic, this.#numbers, this.#replica].map((topic) => this.#endOf(topic)))
    return ends.every((end, at) => end > [pipe.records, numbers.records, mirror.records][at]! + 100)
  }

  /** Whether the stored offset of the mirror is the end of its source. */
  async isMirrorCommitted(): Promise<boolean> {
    return (await this.#nextOf(FLOWING.mirror, 'offset')) === (await this.#endOf(this.pipe.topic))
  }

  /**
   * Expects that each worker continued exactly at the offsets that the worker before it had stored: nothing is lost, and
   * only the records behind a stored offset are repeated.
   */
  async expectContinued(kills: readonly FlowProgress[], lines: number): Promise<void> {
    await expectContinued(
      this.#broker,
      this.pipe,
      kills.map(({ pipe }) => pipe),
      lines,
    )
    const end = await this.progress()
    const numbers = (await readRecords(this.#broker, this.#numbers)).map(({ value }) => Number(value))
    expectSequence(
      numbers,
      (position) => position,
      [...kills, end].map((one) => one.numbers),
    )
    const [source, replica] = await Promise.all(
      [this.pipe.topic, this.#replica].map(async (topic) =>
        (await readRecords(this.#broker, topic)).map(({ value }) => lineNumber(String(value))),
      ),
    )
    expectSequence(
      replica!,
      (position) => source![position],
      [...kills, end].map((one) => one.mirror),
    )
    expect(end.mirror.next).toBe(source!.length)
  }

  async #endOf(topic: string): Promise<number> {
    const [end] = await this.#broker.topics.offsets(topic, 'latest').catch(() => [])
    return end?.offset ?? 0
  }
}

/** Expects that the records after each stop are those of the positions that follow the stored offset of that stop. */
function expectSequence(
  found: readonly number[],
  valueAt: (position: number) => number | undefined,
  stops: readonly SourceProgress[],
): void {
  let from: SourceProgress = { records: 0, next: 0 }
  for (const to of stops) {
    const { next } = from
    const records = found.slice(from.records, to.records)
    const wrong = records.findIndex((value, at) => value !== valueAt(next + at))
    expect(wrong < 0 ? 'in order' : { wrong, found: records[wrong], expected: valueAt(next + wrong) }).toBe('in order')
    // The next worker repeats at most what follows the stored offset, and skips nothing.
    expect(to.next).toBeLessThanOrEqual(next + records.length)
    from = to
  }
}
