import { effect, signal } from '@preact/signals'
import { authorization, needsLogIn, RequestFailure, send } from './api.ts'

/** Objects of a kind that have changed; null means all of them. */
export type Changes = {
  readonly kind: 'connector' | 'log' | 'subject' | 'resource'
  readonly names: readonly string[] | null
}

/** Whether changes arrive as they happen. Otherwise the page reads periodically. */
export const isLive = signal(false)

const RETRY_MS = { min: 1_000, max: 30_000 }
const listeners = new Set<(changes: readonly Changes[]) => void>()

export function onChanges(listener: (changes: readonly Changes[]) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Reads the events of the program, and connects again when the connection ends, or when another user logs in. Runs as
 * long as the page.
 */
export async function followEvents(): Promise<never> {
  for (let pauseMs = RETRY_MS.min; ; pauseMs = Math.min(2 * pauseMs, RETRY_MS.max)) {
    await untilLoggedIn()
    const connection = new AbortController()
    const { value: used } = authorization
    const stop = effect(() => {
      if (authorization.value !== used) connection.abort()
    })
    try {
      const { body } = await send('GET', '/ui/api/events', { signal: connection.signal })
      isLive.value = true
      pauseMs = RETRY_MS.min
      // What happened while there was no connection is unknown.
      publish((['connector', 'log', 'subject', 'resource'] as const).map((kind) => ({ kind, names: null })))
      if (body !== null) for await (const data of eventsOf(body)) publish(JSON.parse(data) as readonly Changes[])
    } catch (error) {
      // A program of an older version has no events; the page reads periodically.
      if (error instanceof RequestFailure && error.status === 404) pauseMs = RETRY_MS.max
    }
    stop()
    isLive.value = false
    if (connection.signal.aborted) pauseMs = RETRY_MS.min
    else await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** Waits for new credentials, because each attempt with wrong ones would count as a failed log-in. */
async function untilLoggedIn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = effect(() => {
    if (needsLogIn.value === undefined || needsLogIn.value.realm === 'runtimes') resolve()
  })
  await promise
  stop()
}

function publish(changes: readonly Changes[]): void {
  for (const listener of listeners) listener(changes)
}

/** The data of the events of a `text/event-stream`. `EventSource` cannot send credentials. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += value
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const data = event.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
      if (data.length > 0) yield data.join('\n')
    }
  }
}
