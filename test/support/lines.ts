import { createHash } from 'node:crypto'
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'

/** 99 characters and a newline. */
export const LINE_BYTES = 100
const LINES_A_WRITE = 10_000

/** A file of `count` lines that begin with their own number, so that a lost or doubled one has a name. */
export function writeLines(file: string, count: number): void {
  const output = openSync(file, 'w')
  for (let first = 0; first < count; first += LINES_A_WRITE) {
    const numbers = Array.from({ length: Math.min(LINES_A_WRITE, count - first) }, (_, index) => first + index)
    writeSync(output, numbers.map(toLine).join(''))
  }
  closeSync(output)
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

function toLine(number: number): string {
  return `${String(number).padStart(10, '0')} ${'abcdefgh'.repeat(11)}\n`
}
