import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { html } from '../html.ts'

export type ConfirmationProps = {
  readonly children: ComponentChildren
  readonly action: ComponentChildren
  readonly isDangerous?: boolean
  readonly onConfirm: () => void
  readonly onCancel: () => void
}

/** Asks before an action. The native dialog keeps the focus inside, and Escape cancels. */
export function Confirmation({ children, action, isDangerous, onConfirm, onCancel }: ConfirmationProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return html`<dialog ref=${dialog} aria-labelledby="question" onClose=${onCancel}>
    <div id="question">${children}</div>
    <form method="dialog" class="buttons">
      <button onClick=${onCancel}>Cancel</button>
      <button type="button" class=${isDangerous ? 'danger' : 'primary'} onClick=${onConfirm}>${action}</button>
    </form>
  </dialog>`
}
