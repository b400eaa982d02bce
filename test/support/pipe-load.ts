import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Broker } from '../../src/broker/broker.ts'
import type { ConnectorProperties } from '../../src/clients/worker-client.ts'
import { LineSequence } from '../chaos/line-sequence.ts'
import { LINE_BYTES, LineWriter, lineNumber } from './numbered-lines.ts'
import { readRecords } from './topic.ts'

const LINES_A_WRITE = 5
const OBSERVE_EVERY_MS = 50
const READ_BYTES = 2 ** 18
const STRING = 'org.apache.kafka.connect.storage.StringConverter'

export type PipeCounts = { readonly lines: number; readonly repeatedInTopic: number; readonly repeatedInOutput: number }

/** A growing file of numbered lines, a source that copies it to a topic of one partition, and a sink that copies that to a file. */
export class PipeLoad {
  readonly topic: string
  readonly source: string
  readonly sink: string
  /** The configurations of both connectors, of Weir as of Java. */
  readonly connectors: Readonly<Record<string, ConnectorProperties>>
  readonly #output: string
  readonly #writer: LineWriter
  readonly #copied = new LineSequence()
  readonly #observing: NodeJS.Timeout
  /** How many lines were written when, as far as they are not copied. */
  readonly #marks: { readonly ms: number; readonly count: number }[] = []
  #longestDelayMs = 0
  #position = 0
  #rest = ''

  constructor(topic: string, directory: string) {
    this.topic = topic
    this.source = `${topic}-source`
    this.sink = `${topic}-sink`
    const input = join(directory, `${topic}.in`)
    this.#output = join(directory, `${topic}.out`)
    const converters = { 'key.converter': STRING, 'value.converter': STRING }
    this.connectors = {
      [this.source]: { 'connector.class': 'FileStreamSource', file: input, topic, ...converters },
      [this.sink]: {
        'connector.class': 'FileStreamSink',
        file: this.#output,
        topics: topic,
        'consumer.override.isolation.level': 'read_committed',
        ...converters,
      },
    }
    this.#writer = new LineWriter(input, LINES_A_WRITE)
    this.#observing = setInterval(() => this.#observe(), OBSERVE_EVERY_MS)
  }

  get written(): number {
    return this.#writer.count
  }

  hasCopied(lines: number): boolean {
    return this.#copied.missing(lines) === 0
  }

  /** The longest time from writing a line to its copy, since the last call. A line that is still not copied counts, too. */
  takeLongestDelayMs(): number {
    const longest = this.#longestDelayMs
    this.#longestDelayMs = 0
    return longest
  }

  stopWriting(): Promise<void> {
    return this.#writer.stop()
  }

  close(): void {
    clearInterval(this.#observing)
  }

  /** What contradicts the promises, after writing has stopped and everything could be copied. */
  async check(broker: Broker, isExactlyOnce: boolean): Promise<{ problems: readonly string[]; counts: PipeCounts }> {
    const inTopic = new LineSequence()
    for (const { value } of await readRecords(broker, this.topic)) inTopic.observe(lineNumber(String(value)))
    const problems = [
      ...this.#problemsOf(inTopic, 'the topic'),
      ...this.#problemsOf(this.#copied, 'the output'),
      ...(isExactlyOnce && inTopic.repeated > 0 ? [`${inTopic.repeated} lines are repeated in the topic`] : []),
    ]
    return {
      problems: problems.map((problem) => `${this.topic}: ${problem}`),
      counts: {
        lines: this.written,
        repeatedInTopic: inTopic.repeated,
        repeatedInOutput: this.#copied.repeated,
      },
    }
  }

  #problemsOf(sequence: LineSequence, where: string): readonly string[] {
    const missing = sequence.missing(this.written)
    return [
      ...(missing > 0 ? [`${missing} of ${this.written} lines are missing in ${where}`] : []),
      ...(sequence.displaced > 0 ? [`${sequence.displaced} lines are before a lower one in ${where}`] : []),
    ]
  }

  #observe(): void {
    this.#readOutput()
    const nowMs = performance.now()
    const { written } = this
    if (written > (this.#marks.at(-1)?.count ?? 0)) this.#marks.push({ ms: nowMs, count: written })
    while (this.#marks.length > 0 && this.hasCopied(this.#marks[0]!.count)) {
      this.#noteDelay(nowMs - this.#marks.shift()!.ms)
    }
    if (this.#marks.length > 0) this.#noteDelay(nowMs - this.#marks[0]!.ms)
  }

  #noteDelay(delayMs: number): void {
    this.#longestDelayMs = Math.max(this.#longestDelayMs, delayMs)
  }

  #readOutput(): void {
    if (!existsSync(this.#output)) return
    const file = openSync(this.#output, 'r')
    const buffer = Buffer.alloc(READ_BYTES)
    for (let bytes = READ_BYTES; bytes === READ_BYTES; ) {
      bytes = readSync(file, buffer, 0, READ_BYTES, this.#position)
      this.#position += bytes
      const lines = (this.#rest + buffer.toString('latin1', 0, bytes)).split('\n')
      this.#rest = lines.pop()!
      // A killed sink may leave the beginning of a line.
      for (const line of lines) if (line.length === LINE_BYTES - 1) this.#copied.observe(lineNumber(line))
    }
    closeSync(file)
  }
}
