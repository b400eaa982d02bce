import { createHash } from 'node:crypto'
import { closeSync, createReadStream, existsSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** 99 characters and a newline. */
export const LINE_BYTES = 100
const LINES_A_WRITE = 10_000
const LINES_A_PIECE = 100

/** Writes a file of `count` lines that begin with the line number, so that lost and duplicate lines are identified. */
export function writeLines(file: string, count: number): void {
  const output = openSync(file, 'w')
  for (let first = 0; first < count; first += LINES_A_WRITE) {
    const numbers = Array.from({ length: Math.min(LINES_A_WRITE, count - first) }, (_, index) => first + index)
    writeSync(output, numbers.map(toLine).join(''))
  }
  closeSync(output)
}

/** Appends to a file, at some thousand lines per second by default, until `stop` is called. */
export class LineWriter {
  /** Number of lines written. */
  count = 0
  readonly #output: number
  readonly #linesAPiece: number
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>

  constructor(file: string, linesAPiece = LINES_A_PIECE) {
    this.#linesAPiece = linesAPiece
    this.#output = openSync(file, 'a')
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const numbers = Array.from({ length: this.#linesAPiece }, (_, index) => this.count + index)
      writeSync(this.#output, numbers.map(toLine).join(''))
      this.count += this.#linesAPiece
      await sleep(20)
    }
    closeSync(this.#output)
  }
}

export function lineNumber(line: string): number {
  return Number(line.slice(0, 10))
}

/** Streams the file, because two of these files do not fit in memory. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

export function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0
}

/** Line numbers of a part of the file. A killed writer leaves a partial line at the end of its part; it is skipped. */
export function readNumbers(file: string, fromByte: number, toByte: number): readonly number[] {
  const lines = readFileSync(file).subarray(fromByte, toByte).toString('latin1').split('\n')
  return lines.filter((line) => line.length === LINE_BYTES - 1).map(lineNumber)
}

function toLine(number: number): string {
  return `${String(number).padStart(10, '0')} ${'abcdefgh'.repeat(11)}\n`
}
