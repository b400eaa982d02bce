import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Semaphore } from '../common/semaphore.ts'

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
  await turns.run(() => nextTurn())
  let chunk = '['
  let separator = ''
  for (const item of items) {
    chunk += `${separator}${JSON.stringify(item)}`
    separator = ','
    if (chunk.length < CHUNK_MIN) continue
    yield Buffer.from(chunk)
    chunk = ''
    await turns.run(() => nextTurn())
  }
  yield Buffer.from(`${chunk}]`)
}

const turns = new Semaphore(1)
