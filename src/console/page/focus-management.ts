import { effect } from '@preact/signals'
import { pageLocation } from './location.ts'
import { pageTitle } from './page-title.ts'

const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'
/** Controls that belong together. */
const GROUPS = 'li, tr, [role="row"], [role="rowgroup"], [role="group"], [role="region"], fieldset, form, dialog'
const SECTIONS = 'section, article, main'
/** What a control opens, and what returns the focus to it. */
const PANELS = 'dialog, article'

/** Where the focus was last, and on which page. */
let last: { readonly element: HTMLElement; readonly page: string } | undefined
const openers = new WeakMap<Element, HTMLElement>()

const pageKey = () => pageLocation.value.path.join('/')

/**
 * Keeps the focus at a place that makes sense, for people who cannot see where it is. Browsers set it to the body when the
 * focused element is removed, hidden or disabled, and leave it where it is when the page shows something else.
 */
export function manageFocus(): void {
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return
    const panel = target.closest(PANELS)
    if (panel && last && !panel.contains(last.element) && !openers.has(panel)) openers.set(panel, last.element)
    last = { element: target, page: pageKey() }
  })
  new MutationObserver(restoreFocus).observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ['disabled', 'hidden', 'open'],
  })
  let shown = pageKey()
  effect(() => {
    document.title = pageTitle(pageLocation.value.path)
    const isOther = pageKey() !== shown
    shown = pageKey()
    // The page is rendered before the next frame.
    if (isOther) requestAnimationFrame(focusPage)
  })
}

/** Begins the other page at its heading. The sections of an object are like tabs: the one that was chosen keeps the focus. */
function focusPage(): void {
  if (document.querySelector('dialog[open]') || document.activeElement?.matches('h1, .sections a')) return
  pageHeading()?.focus()
}

function restoreFocus(records: readonly MutationRecord[]): void {
  // Whether it is shown is known only after a layout.
  const canHide = records.some(({ type }) => type === 'attributes')
  if (last === undefined || !(canHide ? isLost(last.element) : isUnusable(last.element))) return
  const { element, page } = last
  const { activeElement } = document
  last = undefined
  // A view has moved the focus itself.
  if (activeElement !== null && activeElement !== document.body && activeElement !== element) return
  const place = page === pageKey() ? (openerOf(element) ?? placeAfter(holeOf(element, records))) : pageHeading()
  place?.focus({ preventScroll: true })
}

function isUnusable(element: HTMLElement): boolean {
  return !element.isConnected || element.matches(':disabled')
}

function isLost(element: HTMLElement): boolean {
  return isUnusable(element) || !element.checkVisibility()
}

/** The control that has opened the panel of an element, if the panel was closed. */
function openerOf(element: HTMLElement): HTMLElement | undefined {
  const panel = element.closest(PANELS)
  const opener = panel && !panel.isConnected ? openers.get(panel) : undefined
  return opener && !isLost(opener) ? opener : undefined
}

/** A place between two nodes, of which each can be null at the end of the parent. */
type Hole = { readonly parent: Element; readonly previous: Node | null; readonly next: Node | null }

/** Where an element is, or was before the changes. */
function holeOf(element: HTMLElement, records: readonly MutationRecord[]): Hole {
  const removalOf = (node: Node) =>
    records.findLast(({ removedNodes }) => [...removedNodes].some((removed) => removed === node))
  const connected = (node: Node | null, side: 'previousSibling' | 'nextSibling'): Node | null => {
    let found = node
    for (let steps = 0; found !== null && !found.isConnected && steps < records.length; steps++)
      found = removalOf(found)?.[side] ?? null
    return found?.isConnected ? found : null
  }
  const parent = element.parentElement ?? document.body
  let hole: Hole = { parent, previous: element, next: element.nextSibling }
  let node: Node = element
  // What has contained it can have been removed, too.
  for (let steps = 0; !node.isConnected && steps < records.length; steps++) {
    const removal = removalOf(node.getRootNode())
    if (removal === undefined) break
    node = removal.target
    hole = {
      parent: node as Element,
      previous: connected(removal.previousSibling, 'previousSibling'),
      next: connected(removal.nextSibling, 'nextSibling'),
    }
  }
  return hole
}

/** The next or previous control of the same group, else of the group around it, else the heading of the section. */
function placeAfter({ parent, previous, next }: Hole): HTMLElement | null {
  const isAfter = (control: Element) => {
    if (next !== null) return next.contains(control) || isFollowing(next, control)
    return isFollowing(previous ?? parent, control) && !previous?.contains(control)
  }
  for (let around: Element | null = parent; around !== null; around = around.parentElement) {
    if (around.matches(GROUPS)) {
      const controls = [...around.querySelectorAll<HTMLElement>(CONTROLS)].filter((control) => !isLost(control))
      const place = controls.find(isAfter) ?? controls.at(-1) ?? (around.matches(CONTROLS) ? around : undefined)
      if (place !== undefined) return place as HTMLElement
    }
    const heading = around.matches(SECTIONS) && around.querySelector<HTMLElement>('h1, h2, h3')
    if (heading) return withFocus(heading)
  }
  return pageHeading()
}

function isFollowing(node: Node, other: Node): boolean {
  return (node.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
}

function pageHeading(): HTMLElement | null {
  const heading = document.querySelector<HTMLElement>('main h1')
  return heading ? withFocus(heading) : document.querySelector('main')
}

/** Headings are no controls: they get the focus from here only. */
function withFocus(heading: HTMLElement): HTMLElement {
  heading.tabIndex = -1
  return heading
}
