import { appendFileSync, closeSync, existsSync, openSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LineSequence } from './line-sequence.ts'

const WRITE_EVERY_MS = 50
const LINES_A_WRITE = 5
const READ_BYTES = 2 ** 20
const LINE = /([a-z]+-[a-z]) (\d{10})$/

/** Appends numbered lines to a file for each topic, and observes the file into which a sink copies all topics. */
export class LineLoad {
  readonly topics: readonly string[]
  readonly output: string
  /** What the sink has written, by topic. */
  readonly copied: ReadonlyMap<string, LineSequence>
  /** Number of lines in each file. */
  written = 0
  readonly #directory: string
  readonly #writing: NodeJS.Timeout
  #position = 0
  #rest = ''

  constructor(directory: string, topics: readonly string[]) {
    this.topics = topics
    this.#directory = directory
    this.output = join(directory, 'output.txt')
    this.copied = new Map(topics.map((topic) => [topic, new LineSequence()]))
    for (const topic of topics) writeFileSync(this.inputOf(topic), '')
    this.#writing = setInterval(() => this.#write(), WRITE_EVERY_MS)
  }

  inputOf(topic: string): string {
    return join(this.#directory, `${topic}.txt`)
  }

  stopWriting(): void {
    clearInterval(this.#writing)
  }

  /** Reads what the sink has added to its file. */
  readOutput(): void {
    if (!existsSync(this.output)) return
    const file = openSync(this.output, 'r')
    const buffer = Buffer.alloc(READ_BYTES)
    for (let bytes = 1; bytes > 0; ) {
      bytes = readSync(file, buffer, 0, READ_BYTES, this.#position)
      this.#position += bytes
      const lines = (this.#rest + buffer.toString('latin1', 0, bytes)).split('\n')
      this.#rest = lines.pop()!
      for (const line of lines) this.#observe(line)
    }
    closeSync(file)
  }

  /** A killed writer may leave the beginning of a line, before that of the next writer. */
  #observe(text: string): void {
    const line = parseLine(text)
    if (line !== undefined) this.copied.get(line.topic)?.observe(line.number)
  }

  #write(): void {
    const numbers = Array.from({ length: LINES_A_WRITE }, (_, index) => this.written + index)
    for (const topic of this.topics) {
      const lines = numbers.map((number) => `${topic} ${String(number).padStart(10, '0')}\n`)
      appendFileSync(this.inputOf(topic), lines.join(''))
    }
    this.written += LINES_A_WRITE
  }
}

export function parseLine(text: string): { readonly topic: string; readonly number: number } | undefined {
  const [, topic, number] = LINE.exec(text) ?? []
  return topic === undefined ? undefined : { topic, number: Number(number) }
}
