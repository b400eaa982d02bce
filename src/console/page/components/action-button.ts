import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { html } from '../html.ts'
import { refreshAll } from '../queries.ts'
import { Confirmation } from './confirmation.ts'
import { notify } from './notices.ts'

export type ActionButtonProps = {
  readonly children: ComponentChildren
  /** What the action is done to, for screen readers, which also list the buttons of a page without what is around them. */
  readonly object?: string
  /** Performs the action; its result is shown as a notice, unless it returns `REPORTED`. */
  readonly run: () => Promise<unknown>
  /** What to report when it is done: a sentence without its period. */
  readonly done: ComponentChildren
  /** What the action changes or destroys. Absent: it runs without a question. */
  readonly question?: ComponentChildren
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
}

/** The caller shows the result of the action. */
export const REPORTED = Symbol('reported')

/** A button that performs one action at a time, after a question if there is one, and reports the result. */
export function ActionButton({ children, object, run, done, question, isDangerous, isDisabled }: ActionButtonProps) {
  const [isRunning, setRunning] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const label = object && `${children} ${object}`
  const perform = async () => {
    setAsking(false)
    setRunning(true)
    try {
      if ((await run()) !== REPORTED) notify(html`${done}.`)
    } catch (error) {
      notify(html`${done}: failed. ${error instanceof Error ? error.message : String(error)}`, true)
    }
    setRunning(false)
    await refreshAll()
  }
  const ask = () => {
    if (isRunning) return
    if (question === undefined) void perform()
    else setAsking(true)
  }
  // Disabled while it runs, it would lose the focus.
  return html`<button type="button" class=${isDangerous ? 'danger' : ''} aria-label=${label} aria-disabled=${isRunning}
      disabled=${isDisabled && !isRunning} onClick=${ask}>
      ${children}
    </button>
    ${
      isAsking &&
      html`<${Confirmation} action=${children} label=${label} isDangerous=${isDangerous} onConfirm=${() => void perform()}
        onCancel=${() => setAsking(false)}>${question}<//>`
    }`
}
