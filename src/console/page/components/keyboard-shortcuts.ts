import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { html } from '../html.ts'
import { hrefOf } from '../location.ts'
import { Modal } from './modal.ts'

/** Views by the key after `g`. */
const VIEWS = {
  o: ['Overview', ''],
  c: ['Connectors', 'connectors'],
  s: ['Subjects', 'subjects'],
  t: ['Topics', 'topics'],
  m: ['Graph', 'graph'],
  r: ['Resources', 'resources'],
} as const

const OFF = 'weir.shortcuts.off'
/** People who speak to their computer, or use a keyboard of another kind, turn shortcuts of one character off. */
const isOff = signal(read())

type KeyboardShortcutsProps = {
  /** First parts of the paths of views that exist. */
  readonly views: readonly string[]
}

/** Shortcuts of the whole page, and the button and dialog that list them. */
export function KeyboardShortcuts({ views }: KeyboardShortcutsProps) {
  const [isOpen, setOpen] = useState(false)
  const available = Object.entries(VIEWS).filter(([, [, path]]) => views.includes(path))
  useEffect(() => {
    let isAfterG = false
    const actions: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
      g: () => {
        isAfterG = true
      },
      '?': () => setOpen(true),
      '/': (event) => {
        if (focusSearch()) event.preventDefault()
      },
    }
    const onKey = (event: KeyboardEvent) => {
      const wasAfterG = isAfterG
      isAfterG = false
      if (isOff.value || isForOthers(event)) return
      if (wasAfterG) goTo(available.find(([key]) => key === event.key)?.[1][1])
      else if (Object.hasOwn(actions, event.key)) actions[event.key]?.(event)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [views.join(' ')])
  return html`<button type="button" aria-label="Keyboard shortcuts" onClick=${() => setOpen(true)}>?</button>
    ${
      isOpen &&
      html`<${Modal} labelledBy="shortcuts" onClose=${() => setOpen(false)}>
        <h2 id="shortcuts">Keyboard shortcuts</h2>
        <dl class="shortcuts">
          <dt><kbd>/</kbd></dt><dd>Search in this view</dd>
          ${available.map(([key, [title]]) => html`<dt key=${key}><kbd>g</kbd> <kbd>${key}</kbd></dt><dd>${title}</dd>`)}
          <dt><kbd>?</kbd></dt><dd>This list</dd>
          <dt><kbd>Esc</kbd></dt><dd>Close a question or this list</dd>
        </dl>
        <label class="check"><input type="checkbox" checked=${!isOff.value} onChange=${() => keep(!isOff.value)} /> Use shortcuts</label>
        <form method="dialog" class="buttons"><button>Close</button></form>
      <//>`
    }`
}

/** Whether somebody types text, answers a question or uses a shortcut of the browser. */
function isForOthers({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  const typing = 'input:not([type=checkbox]), textarea, select, dialog'
  return ctrlKey || metaKey || altKey || (target instanceof Element && target.closest(typing) !== null)
}

function goTo(path: string | undefined): void {
  if (path !== undefined) location.hash = hrefOf(path === '' ? [] : [path])
}

function focusSearch(): boolean {
  const input = document.querySelector<HTMLInputElement>('main input[type=search]')
  input?.focus()
  input?.select()
  return input !== null
}

/** A browser can refuse to store anything. */
function read(): boolean {
  try {
    return localStorage.getItem(OFF) === 'true'
  } catch {
    return false
  }
}

function keep(off: boolean): void {
  isOff.value = off
  try {
    localStorage.setItem(OFF, String(off))
  } catch {
    // It holds until the page is loaded again.
  }
}
