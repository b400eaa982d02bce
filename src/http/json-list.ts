import { Readable } from 'node:stream'

/** In characters: some 1 ms of the thread that serves requests. */
const CHUNK_MIN = 64 * 1024

/**
 * A list as JSON, written piece by piece as its reader takes it: a large one holds up nobody, and is in memory nowhere as
 * a whole. Of all lists together, one piece is made in a turn of the event loop.
 */
export function streamJsonList(items: Iterable<object>): Readable {
  return Readable.from(chunksOf(items), { objectMode: false })
}

async function* chunksOf(items: Iterable<object>): AsyncGenerator<Buffer> {
  await turn()
  let chunk = '['
  let separator = ''
  for (const item of items) {
    chunk += `${separator}${JSON.stringify(item)}`
    separator = ','
    if (chunk.length < CHUNK_MIN) continue
    yield Buffer.from(chunk)
    chunk = ''
    await turn()
  }
  yield Buffer.from(`${chunk}]`)
}

const waiting: (() => void)[] = []

function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(next)
  })
}

function next(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(next)
}
