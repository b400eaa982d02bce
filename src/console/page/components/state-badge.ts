import { html } from '../html.ts'

const TONES: Readonly<Record<string, string>> = {
  RUNNING: 'good',
  PAUSED: 'idle',
  STOPPED: 'idle',
  FAILED: 'bad',
  UNASSIGNED: 'waiting',
  RESTARTING: 'waiting',
}

/** A state of Kafka Connect. The text says it, so that the color need not. */
export function StateBadge({ state }: { readonly state: string }) {
  return html`<span class=${`badge ${TONES[state] ?? 'idle'}`}>${state}</span>`
}
