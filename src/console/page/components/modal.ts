import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { html } from '../html.ts'

export type ModalProps = {
  readonly children: ComponentChildren
  /** ID of the element that names it. */
  readonly labelledBy: string
  readonly describedBy?: string
  /** Absent: it stays until it is answered. */
  readonly onClose?: () => void
}

/** A dialog that is open as long as it is rendered. The browser keeps the focus inside, and Escape closes it. */
export function Modal({ children, labelledBy, describedBy, onClose }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const open = () => dialog.current?.showModal()
  useEffect(open, [])
  const keepOpen = (event: Event) => onClose === undefined && event.preventDefault()
  // Some browsers close a dialog at the second Escape in any case.
  return html`<dialog ref=${dialog} aria-labelledby=${labelledBy} aria-describedby=${describedBy} onCancel=${keepOpen}
    onClose=${onClose ?? open}>${children}</dialog>`
}
