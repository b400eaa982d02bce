import { createHash } from 'node:crypto'
import { closeSync, createReadStream, existsSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** 99 characters and a newline. */
export const LINE_BYTES = 100
const LINES_A_WRITE = 10_000
const LINES_A_PIECE = 100

/** A file of `count` lines that begin with their own number, so that a lost or doubled one has a name. */
export function writeLines(file: string, count: number): void {
  const output = openSync(file, 'w')
  for (let first = 0; first < count; first += LINES_A_WRITE) {
    const numbers = Array.from({ length: Math.min(LINES_A_WRITE, count - first) }, (_, index) => first + index)
    writeSync(output, numbers.map(toLine).join(''))
  }
  closeSync(output)
}

/** Writes to the end of a file, at some thousand lines a second, until it is told to stop. */
export class LineWriter {
  /** How many lines were written. */
  count = 0
  readonly #output: number
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>

  constructor(file: string) {
    this.#output = openSync(file, 'a')
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const numbers = Array.from({ length: LINES_A_PIECE }, (_, index) => this.count + index)
      writeSync(this.#output, numbers.map(toLine).join(''))
      this.count += LINES_A_PIECE
      await sleep(20)
    }
    closeSync(this.#output)
  }
}

export function lineNumber(line: string): number {
  return Number(line.slice(0, 10))
}

/** Reads the file once, in pieces: these files are too large to hold two of them. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

export function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0
}

/** Number of the last whole line; read from the end, because this is asked again and again. */
export function lastLine(file: string): number {
  const size = sizeOf(file)
  if (size < LINE_BYTES) return -1
  const last = Buffer.alloc(LINE_BYTES)
  const descriptor = openSync(file, 'r')
  readSync(descriptor, last, 0, LINE_BYTES, size - LINE_BYTES)
  closeSync(descriptor)
  return lineNumber(last.toString('latin1'))
}

/** A write that a kill cut short leaves a piece of a line, and the next line follows on it. */
export function readNumbers(file: string): readonly number[] {
  const lines = readFileSync(file, 'latin1').split('\n')
  return lines.filter((line) => line.length >= LINE_BYTES - 1).map((line) => lineNumber(line.slice(1 - LINE_BYTES)))
}

function toLine(number: number): string {
  return `${String(number).padStart(10, '0')} ${'abcdefgh'.repeat(11)}\n`
}
