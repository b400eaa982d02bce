import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { html } from '../html.ts'

type Notice = { readonly id: number; readonly text: ComponentChildren; readonly isError: boolean }

const NOTICES_MAX = 5
const SHOWN_MS = 8_000
const notices = signal<readonly Notice[]>([])
let lastId = 0

/** Shows the result of an action. An error stays until it is closed. */
export function notify(text: ComponentChildren, isError = false): void {
  const id = ++lastId
  notices.value = [...notices.value, { id, text, isError }].slice(-NOTICES_MAX)
  if (!isError) setTimeout(() => close(id), SHOWN_MS)
}

function close(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id)
}

export function Notices() {
  return html`<div class="notices" role="status" aria-atomic="false">
    ${notices.value.map(
      ({ id, text, isError }) => html`<p key=${id} class=${isError ? 'error' : ''}>
        <span id=${`notice-${id}`}>${text}</span> <button id=${`close-${id}`} aria-label="Close the notice"
          aria-labelledby=${`close-${id} notice-${id}`} onClick=${() => close(id)}>×</button>
      </p>`,
    )}
  </div>`
}
