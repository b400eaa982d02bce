import { Readable } from 'node:stream'

/** In characters: about 1 ms of the main thread. */
const CHUNK_MIN = 64 * 1024

/**
 * Serializes a list as a JSON stream, chunk by chunk as the client reads it, so that a large list neither blocks the
 * event loop nor is in memory as a whole. Over all lists, one chunk is created per turn of the event loop.
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
