import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { needsLogIn, RequestFailure, request } from './api.ts'
import { onChanges } from './event-stream.ts'
import { type ConnectorLogResponse, type LogLine, mergeLines, nextPosition, positionAfter } from './log-lines.ts'

export type FollowedLog = {
  /** Undefined before the first response. */
  readonly lines: ReadonlySignal<readonly LogLine[] | undefined>
  readonly missing: ReadonlySignal<readonly string[]>
  readonly error: ReadonlySignal<RequestFailure | undefined>
}

/** Other workers, and a page of an operator, cause no event. */
const POLL_MS = 2_000
const UNSUPPORTED_POLL_MS = 30_000

/** Reads the log of a connector while the calling component is shown, and its new lines as they arrive. */
export function useConnectorLog(path: string, name: string): FollowedLog {
  const log = useMemo(() => new ActiveLog(path, name), [path, name])
  useEffect(() => log.follow(), [log])
  return log
}

class ActiveLog implements FollowedLog {
  readonly lines: Signal<readonly LogLine[] | undefined> = signal(undefined)
  readonly missing: Signal<readonly string[]> = signal([])
  readonly error: Signal<RequestFailure | undefined> = signal(undefined)
  readonly #path: string
  readonly #name: string
  #position: ReadonlyMap<string, number> = new Map()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isReading = false
  #hasNew = false
  #isEnded = false

  constructor(path: string, name: string) {
    this.#path = path
    this.#name = name
  }

  /** Returns a function that ends it. */
  follow(): () => void {
    this.#isEnded = false
    const stopListening = onChanges((changes) => {
      if (changes.some(({ kind, names }) => kind === 'log' && (names === null || names.includes(this.#name))))
        this.#hasNew = true
      if (this.#hasNew && !this.#isReading) void this.#read()
    })
    void this.#read()
    return () => {
      this.#isEnded = true
      clearTimeout(this.#timer)
      stopListening()
    }
  }

  async #read(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#isEnded) return
    let pauseMs = POLL_MS
    // Nothing is read for a page that nobody sees, or that waits for credentials.
    if (document.visibilityState !== 'hidden' && !needsLogIn.value) {
      this.#isReading = true
      this.#hasNew = false
      pauseMs = await this.#readNew()
      this.#isReading = false
    }
    if (!this.#isEnded) this.#timer = setTimeout(() => void this.#read(), this.#hasNew ? 0 : pauseMs)
  }

  async #readNew(): Promise<number> {
    try {
      const after = positionAfter(this.#position)
      const response = await request<ConnectorLogResponse>('GET', `${this.#path}?after=${encodeURIComponent(after)}`)
      this.#position = nextPosition(this.#position, response)
      this.lines.value = mergeLines(this.lines.value ?? [], response)
      this.missing.value = response.missing
      this.error.value = undefined
    } catch (error) {
      this.error.value = error instanceof RequestFailure ? error : new RequestFailure(0, String(error))
      if (this.error.value.status === 404) return UNSUPPORTED_POLL_MS
    }
    return POLL_MS
  }
}
