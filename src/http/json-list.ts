import { Readable } from 'node:stream'

/** In characters: some 1 ms of the thread that serves requests. */
const CHUNK_MIN = 64 * 1024

/**
 * A list as JSON, written piece by piece as its reader takes it: a large one holds up nobody, and is in memory nowhere as
 * a whole.
 */
export function streamJsonList(items: Iterable<object>): Readable {
  return Readable.from(chunksOf(items), { objectMode: false })
}

async function* chunksOf(items: Iterable<object>): AsyncGenerator<Buffer> {
  let chunk = '['
  let separator = ''
  for (const item of items) {
    chunk += `${separator}${JSON.stringify(item)}`
    separator = ','
    if (chunk.length < CHUNK_MIN) continue
    yield Buffer.from(chunk)
    chunk = ''
    // Others first: a reader that is fast would have it all in one turn.
    await new Promise((resolve) => setImmediate(resolve))
  }
  yield Buffer.from(`${chunk}]`)
}
