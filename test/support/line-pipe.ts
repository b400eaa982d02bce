import { expect } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import type { WorkerClient } from '../../src/clients/worker-client.ts'
import { LINE_BYTES, lineNumber, readNumbers, sizeOf } from './numbered-lines.ts'
import { isGone, taskProcessesOf } from './process-tree.ts'
import { readLatestValues, readRecords } from './topic.ts'
import { until } from './until.ts'

/** A FileStreamSource that copies a file of numbered lines to a topic, and a FileStreamSink that copies it to a file. */
export type LinePipe = {
  readonly groupId: string
  readonly source: string
  readonly sink: string
  readonly topic: string
  readonly output: string
}

/** How much has been copied, and the stored offsets from which the next worker continues. */
export type PipeProgress = {
  /** Records in the topic. */
  readonly records: number
  /** Bytes in the output file. */
  readonly outputBytes: number
  /** Lines before the stored offset of the source. */
  readonly sourceOffset: number
  /** Records before the committed offset of the sink's consumer group. */
  readonly sinkOffset: number
}

const WAIT = { everyMs: 20, timeoutMs: 120_000 }

export const NO_PROGRESS: PipeProgress = { records: 0, outputBytes: 0, sourceOffset: 0, sinkOffset: 0 }

/** Waits until both connectors have committed an offset beyond this progress. */
export async function untilCommitted(client: WorkerClient, pipe: LinePipe, since: PipeProgress): Promise<void> {
  await until('commits of the source and the sink', WAIT, async () => {
    const [source] = await client.offsets(pipe.source)
    const [sink] = await client.offsets(pipe.sink)
    const position = Number(source?.offset?.['position'] ?? 0)
    return position > since.sourceOffset * LINE_BYTES && Number(sink?.offset?.['kafka_offset'] ?? 0) > since.sinkOffset
  })
}

/**
 * Waits until the output has all lines and all records that the connectors repeat after the last kill, in whatever part
 * the lines were copied before it.
 */
export async function untilCopied(pipe: LinePipe, { records, sourceOffset, ...kill }: PipeProgress, lines: number) {
  const repeatedAndNew = records + (lines - sourceOffset) - kill.sinkOffset
  const size = kill.outputBytes + repeatedAndNew * LINE_BYTES
  await until('all lines and repeated records', WAIT, () => sizeOf(pipe.output) >= size)
}

/** Kills a worker and waits for the end of the processes of its tasks, which could still write. */
export async function killWithTasks(worker: {
  readonly pid: number | undefined
  kill(): Promise<void>
}): Promise<void> {
  const tasks = taskProcessesOf(worker.pid!)
  await worker.kill()
  await until('the end of the task processes', WAIT, () => tasks.every(isGone))
}

/** Reads the progress once the group has no worker left, so that no request of a killed one is still being processed. */
export async function readProgress(broker: Broker, pipe: LinePipe): Promise<PipeProgress> {
  const isEmpty = async () => (await broker.groups.describe(pipe.groupId)).members.length === 0
  await until('an empty group', WAIT, isEmpty)
  const [end] = await broker.topics.offsets(pipe.topic, 'latest')
  const sourceOffsets = await readLatestValues(broker, `${pipe.groupId}-offsets`)
  const [, stored] = [...sourceOffsets].find(([key]) => JSON.parse(key)[0] === pipe.source) ?? []
  const committed = await broker.groups.offsets(`connect-${pipe.sink}`)
  return {
    records: end!.offset,
    outputBytes: sizeOf(pipe.output),
    sourceOffset: stored ? JSON.parse(stored.toString()).position / LINE_BYTES : 0,
    sinkOffset: committed.find(({ topic }) => topic === pipe.topic)?.offset ?? 0,
  }
}

/**
 * Expects that each worker continued exactly at the stored offsets that the worker before it left, and that all `lines`
 * have arrived. So nothing is lost, and only the records behind a stored offset are repeated.
 */
export async function expectContinued(
  broker: Broker,
  pipe: LinePipe,
  kills: readonly PipeProgress[],
  lines: number,
): Promise<void> {
  const stored = (await readRecords(broker, pipe.topic)).map(({ value }) => lineNumber(String(value)))
  let [linesProduced, recordsDelivered] = [0, 0]
  let from = NO_PROGRESS
  for (const to of [...kills, await readProgress(broker, pipe)]) {
    const { sourceOffset, sinkOffset } = from
    const produced = stored.slice(from.records, to.records)
    expect(
      firstDifference(produced, (index) => sourceOffset + index),
      'lines of the source',
    ).toBeUndefined()
    linesProduced = sourceOffset + produced.length
    expect(to.sourceOffset, 'stored offset of the source').toBeLessThanOrEqual(linesProduced)
    const delivered = readNumbers(pipe.output, from.outputBytes, to.outputBytes)
    expect(
      firstDifference(delivered, (index) => stored[sinkOffset + index]),
      'lines of the sink',
    ).toBeUndefined()
    recordsDelivered = sinkOffset + delivered.length
    expect(to.sinkOffset, 'committed offset of the sink').toBeLessThanOrEqual(recordsDelivered)
    from = to
  }
  expect({ linesProduced, recordsDelivered }).toEqual({ linesProduced: lines, recordsDelivered: stored.length })
}

function firstDifference(numbers: readonly number[], expectedAt: (index: number) => number | undefined) {
  const index = numbers.findIndex((number, at) => number !== expectedAt(at))
  return index < 0 ? undefined : { index, found: numbers[index], expected: expectedAt(index) }
}
