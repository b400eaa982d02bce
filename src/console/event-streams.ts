import type { ServerResponse } from 'node:http'
import type { ChangeFeed, ObjectChange } from './change-feed.ts'

/** Changes are collected for so long, so that a busy program does not send an event for each record. */
const FLUSH_MS = 250
/** Proxies close connections that are silent for a minute. */
const HEARTBEAT_MS = 15_000
/** A page that gets more changes at once reads everything of their kind again. */
const NAMES_MAX = 500
const STREAMS_MAX = 100

/** The server-sent events of all open pages. A page that does not read its events is disconnected. */
export class EventStreams {
  readonly #streams = new Set<EventStream>()
  readonly #feed: ChangeFeed

  constructor(feed: ChangeFeed) {
    this.#feed = feed
    feed.closed.addEventListener('abort', () => {
      for (const stream of this.#streams) stream.close()
    })
  }

  /**
   * Sends the changes that the user may read. False if there are too many streams; then nothing was written.
   */
  open(response: ServerResponse, mayRead: (change: ObjectChange) => boolean): boolean {
    if (this.#feed.closed.aborted || this.#streams.size >= STREAMS_MAX) return false
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // nginx would collect the events.
      'x-accel-buffering': 'no',
    })
    const stream = new EventStream(response)
    this.#streams.add(stream)
    const unsubscribe = this.#feed.subscribe((change) => {
      if (mayRead(change)) stream.add(change)
    })
    response.once('close', () => {
      unsubscribe()
      stream.close()
      this.#streams.delete(stream)
    })
    return true
  }
}

class EventStream {
  readonly #response: ServerResponse
  readonly #heartbeat: NodeJS.Timeout
  readonly #pending = new Map<ObjectChange['kind'], Set<string> | null>()
  #flushing: NodeJS.Timeout | undefined

  constructor(response: ServerResponse) {
    this.#response = response
    this.#heartbeat = setInterval(() => this.#write(': alive\n\n'), HEARTBEAT_MS).unref()
    this.#write('retry: 2000\n\n')
  }

  add({ kind, name }: ObjectChange): void {
    const names = this.#pending.get(kind)
    if (name === null || (names && names.size >= NAMES_MAX)) this.#pending.set(kind, null)
    else if (names === undefined) this.#pending.set(kind, new Set([name]))
    else names?.add(name)
    this.#flushing ??= setTimeout(() => this.#flush(), FLUSH_MS).unref()
  }

  close(): void {
    clearInterval(this.#heartbeat)
    clearTimeout(this.#flushing)
    this.#response.end()
  }

  #flush(): void {
    this.#flushing = undefined
    const changes = [...this.#pending].map(([kind, names]) => ({ kind, names: names && [...names] }))
    this.#pending.clear()
    this.#write(`event: change\ndata: ${JSON.stringify(changes)}\n\n`)
  }

  #write(text: string): void {
    if (this.#response.writableNeedDrain) this.#response.destroy()
    else this.#response.write(text)
  }
}
