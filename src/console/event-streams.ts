import type { ServerResponse } from 'node:http'
import { onceClosed } from '../http/response-close.ts'
import type { ChangeFeed, ObjectChange } from './change-feed.ts'

/** Changes are collected for so long, so that a busy program does not send an event for each record. */
const FLUSH_MS = 250
/** Proxies close connections that are silent for a minute. The rights of the user are checked as often. */
const HEARTBEAT_MS = 15_000
/** A page that gets more changes at once reads everything of their kind again. */
const NAMES_MAX = 500
const STREAMS_MAX = 100

/** The user of an open page. Rights can be revoked while the page is open. */
export type EventReader = {
  readonly mayRead: (change: ObjectChange) => boolean
  /** Authenticates the user again, and rejects if that fails. Absent without authentication. */
  readonly reauthorize?: () => Promise<void>
}

/**
 * The server-sent events of all open pages. A page is disconnected if it does not read its events, and at the heartbeat
 * after its user has lost the right to use the program.
 */
export class EventStreams {
  readonly #streams = new Set<EventStream>()
  readonly #feed: ChangeFeed
  readonly #heartbeatMs: number

  constructor(feed: ChangeFeed, heartbeatMs = HEARTBEAT_MS) {
    this.#feed = feed
    this.#heartbeatMs = heartbeatMs
    feed.closed.addEventListener('abort', () => {
      for (const stream of this.#streams) stream.close()
    })
  }

  /**
   * Sends the changes that the user may read. False if there are too many streams; then nothing was written.
   */
  open(response: ServerResponse, { mayRead, reauthorize }: EventReader): boolean {
    if (this.#feed.closed.aborted || this.#streams.size >= STREAMS_MAX) return false
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // nginx would collect the events.
      'x-accel-buffering': 'no',
    })
    const stream = new EventStream(response, this.#heartbeatMs, reauthorize)
    this.#streams.add(stream)
    const unsubscribe = this.#feed.subscribe((change) => {
      if (mayRead(change)) stream.add(change)
    })
    // The page may have been closed while its user was being authenticated.
    onceClosed(response, () => {
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
  readonly #reauthorize: EventReader['reauthorize']
  readonly #pending = new Map<ObjectChange['kind'], Set<string> | null>()
  #flushing: NodeJS.Timeout | undefined

  constructor(response: ServerResponse, heartbeatMs: number, reauthorize: EventReader['reauthorize']) {
    this.#response = response
    this.#reauthorize = reauthorize
    this.#heartbeat = setInterval(() => void this.#beat(), heartbeatMs).unref()
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

  /** A user whose rights are unknown, because their issuer does not respond, has none. */
  async #beat(): Promise<void> {
    try {
      await this.#reauthorize?.()
      this.#write(': alive\n\n')
    } catch {
      this.close()
    }
  }

  #flush(): void {
    this.#flushing = undefined
    const changes = [...this.#pending].map(([kind, names]) => ({ kind, names: names && [...names] }))
    this.#pending.clear()
    this.#write(`event: change\ndata: ${JSON.stringify(changes)}\n\n`)
  }

  #write(text: string): void {
    if (this.#response.writableNeedDrain) this.#response.destroy()
    else if (!this.#response.writableEnded) this.#response.write(text)
  }
}
