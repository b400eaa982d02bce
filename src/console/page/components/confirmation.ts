import type { ComponentChildren } from 'preact'
import { html } from '../html.ts'
import { Modal } from './modal.ts'

export type ConfirmationProps = {
  readonly children: ComponentChildren
  readonly action: ComponentChildren
  /** The name of the action for screen readers, if it is more than its text. */
  readonly label?: string
  readonly isDangerous?: boolean
  readonly onConfirm: () => void
  readonly onCancel: () => void
}

/** Asks before an action. */
export function Confirmation({ children, action, label, isDangerous, onConfirm, onCancel }: ConfirmationProps) {
  return html`<${Modal} labelledBy="question" onClose=${onCancel}>
    <div id="question">${children}</div>
    <form method="dialog" class="buttons">
      <button>Cancel</button>
      <button type="button" class=${isDangerous ? 'danger' : 'primary'} aria-label=${label} onClick=${onConfirm}>${action}</button>
    </form>
  <//>`
}
