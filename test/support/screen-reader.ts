import type { Page } from 'playwright-core'

/** An element as a screen reader gets it, with its elements in reading order. */
export type ReadNode = {
  readonly role: string
  readonly name: string
  /** Of a heading. */
  readonly level?: number
  /** Target of a link. */
  readonly url?: string
  readonly children: readonly ReadNode[]
}

/** What people use: a list of these, without what is around them, is how many find their way through a page. */
const CONTROLS = new Set(['button', 'link', 'textbox', 'searchbox', 'combobox', 'checkbox', 'radio', 'spinbutton'])
/** Roles of which a page may have several, told apart by their names. */
const LANDMARKS = new Set(['navigation', 'region', 'search', 'banner', 'main'])
const NAMED_ACTIONS = new Set(['button', 'link', 'DisclosureTriangle'])
/** Names that say nothing without what is around them. */
const VAGUE =
  /^(?:change|check|close|delete|inherit|newer|newest|next|older|pause|previous|replay as it is|reset all|restart(?: all| failed)?|restore|resume|show|stack trace|stop|[\d,]+ more)$/i
/** Its rows have the numbers of lines on both sides. */
const WITHOUT_ROW_HEADERS = /^Difference of /

/** The accessibility tree of the page. */
export async function readPage(page: Page): Promise<ReadNode> {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  await session.detach()
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const read = (node: (typeof nodes)[number]): ReadNode => {
    const propertyOf = (name: string) => node.properties?.find((property) => property.name === name)?.value.value
    const [level, url] = [propertyOf('level'), propertyOf('url')]
    return {
      role: node.ignored ? 'none' : String(node.role?.value),
      name: String(node.name?.value ?? '').trim(),
      ...(level !== undefined && { level: Number(level) }),
      ...(url !== undefined && { url: String(url) }),
      children: (node.childIds ?? []).flatMap((id) => byId.get(id) ?? []).map(read),
    }
  }
  const [root] = nodes
  if (root === undefined) throw new Error('the page has no accessibility tree')
  return read(root)
}

/** What keeps people who listen to the page from using it. */
export function readingFaults(root: ReadNode): readonly string[] {
  const dialog = all(root).find(({ role }) => role === 'dialog')
  const nodes = all(dialog ?? root)
  return [
    ...(dialog === undefined ? headingFaults(nodes) : dialog.name === '' ? ['a dialog has no name'] : []),
    ...(dialog === undefined ? landmarkFaults(nodes) : []),
    ...nodes.flatMap((node) => controlFaults(node, dialog !== undefined)),
    ...repeatedControls(nodes),
    ...nodes.filter(({ role }) => role === 'table' || role === 'grid').flatMap(tableFaults),
    ...nodes
      .filter(({ role, name }) => /^(?:img|image|figure)$/.test(role) && name === '')
      .map(() => 'a picture has no name'),
  ]
}

/** In reading order. */
function all(node: ReadNode): readonly ReadNode[] {
  return [node, ...node.children.flatMap(all)]
}

function headingFaults(nodes: readonly ReadNode[]): readonly string[] {
  const headings = nodes.filter(({ role }) => role === 'heading')
  const pages = headings.filter(({ level }) => level === 1).length
  return [
    ...(pages === 1 ? [] : [`${pages} headings of level 1`]),
    ...headings.flatMap(({ name, level = 0 }, at) => {
      const before = headings[at - 1]?.level ?? 0
      const gap = level > before + 1 ? [`heading '${name}' of level ${level} after one of level ${before}`] : []
      return name === '' ? [...gap, 'a heading has no text'] : gap
    }),
  ]
}

function landmarkFaults(nodes: readonly ReadNode[]): readonly string[] {
  const landmarks = nodes.filter(({ role }) => LANDMARKS.has(role))
  const mains = landmarks.filter(({ role }) => role === 'main').length
  const unnamed = landmarks.filter(({ role, name }) => name === '' && role !== 'main' && role !== 'banner')
  return [
    ...(mains === 1 ? [] : [`${mains} elements main`]),
    ...unnamed.map(({ role }) => `a ${role} has no name`),
    ...repeated(landmarks.map(({ role, name }) => `${role} '${name}'`)),
  ]
}

function controlFaults({ role, name }: ReadNode, isInDialog: boolean): readonly string[] {
  if (!CONTROLS.has(role) && role !== 'DisclosureTriangle') return []
  if (name === '') return [`a ${role} has no name`]
  return NAMED_ACTIONS.has(role) && VAGUE.test(name) && !isInDialog
    ? [`${role} '${name}' says nothing without what is around it`]
    : []
}

/** Controls of the same name do the same; links may lead to the same page. */
function repeatedControls(nodes: readonly ReadNode[]): readonly string[] {
  const controls = nodes.filter(({ role }) => CONTROLS.has(role))
  const purposes = new Set(controls.map(({ role, name, url }, at) => `${role} '${name}' ${url?.split('?')[0] ?? at}`))
  return repeated([...purposes].map((purpose) => purpose.slice(0, purpose.lastIndexOf(' '))))
}

function tableFaults(table: ReadNode): readonly string[] {
  const nodes = all(table)
  const rows = nodes.filter(({ role }) => role === 'row')
  const has = (row: ReadNode, role: string) => row.children.flatMap(all).some((cell) => cell.role === role)
  const count = (row: ReadNode) =>
    row.children.flatMap(all).filter(({ role }) => role === 'cell' || role === 'gridcell').length
  const nameless = rows.filter(
    (row) => count(row) > 1 && !has(row, 'rowheader') && !WITHOUT_ROW_HEADERS.test(table.name),
  )
  return [
    ...(table.name === '' ? ['a table has no name'] : []),
    ...(nodes.some(({ role }) => role === 'columnheader') ? [] : [`table '${table.name}' has no titles of columns`]),
    ...(nameless.length > 0 ? [`${nameless.length} rows of table '${table.name}' have no header`] : []),
  ]
}

function repeated(texts: readonly string[]): readonly string[] {
  const times = Map.groupBy(texts, (text) => text)
  return [...times].flatMap(([text, { length }]) => (length > 1 ? [`${length} times ${text}`] : []))
}

/**
 * Where the order of the focus is not that in which the page is read, which elements have the focus without a role that says
 * why, and which invalid fields do not say what is wrong. As text, because the types of browsers are not those of tests.
 */
export const FOCUS_FAULTS = `(() => {
  const describe = (element) => element.outerHTML.slice(0, 120)
  const shown = document.querySelector('dialog[open]') ?? document
  const focusable = [...shown.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')].filter(
    (element) => element.tabIndex >= 0 && element.checkVisibility() && !element.disabled && !element.closest('.notices, .skip'),
  )
  const isNative = (element) => element.matches('a, button, input, select, textarea, summary')
  // What scrolls by itself is where its frame is.
  const boxOf = (element, other) => {
    const frame = element.closest('.body, .scrolled, .diff, figure, ol, ul')
    return (frame && !frame.contains(other) ? frame : element).getBoundingClientRect()
  }
  const isUpward = (element, at) => {
    if (at === 0) return false
    const [before, now] = [boxOf(focusable[at - 1], element), boxOf(element, focusable[at - 1])]
    return now.bottom <= before.top + 1 && now.left <= before.left + 1
  }
  const textOf = (id) => document.getElementById(id)?.textContent.trim() ?? ''
  const isExplained = (field) => (field.getAttribute('aria-describedby') ?? '').split(' ').some((id) => textOf(id) !== '')
  return [
    ...focusable.filter((element) => element.tabIndex > 0).map((element) => 'an order of its own: ' + describe(element)),
    ...focusable.filter(isUpward).map((element) => 'above what is before it: ' + describe(element)),
    ...focusable
      .filter((element) => !isNative(element) && !(element.matches('[role], figure, ol, ul') && element.matches('[aria-label], [aria-labelledby]')))
      .map((element) => 'without a role or a name: ' + describe(element)),
    ...[...document.querySelectorAll('[aria-invalid=true]')]
      .filter((field) => !isExplained(field))
      .map((field) => 'an error that is not explained: ' + describe(field)),
  ]
})()`

/** Records from now on when the focus is lost, and what screen readers announce. */
export async function listenToPage(page: Page): Promise<void> {
  await page.evaluate(LISTEN)
}

const LISTEN = `(() => {
  window.heard = { lost: [], announced: [] }
  let last = null
  const watch = () => {
    const { activeElement } = document
    if (activeElement !== null && activeElement !== document.body) last = activeElement.outerHTML.slice(0, 120)
    else if (last !== null) {
      window.heard.lost.push(last)
      last = null
    }
    requestAnimationFrame(watch)
  }
  watch()
  new MutationObserver((records) => {
    for (const { target, addedNodes, type } of records) {
      if (type === 'childList' && addedNodes.length === 0) continue
      const element = target.nodeType === Node.TEXT_NODE ? target.parentElement : target
      const region = element?.closest('[role=status], [role=alert]')
      if (region && region.getAttribute('aria-live') !== 'off') window.heard.announced.push(region.textContent.trim())
    }
  }).observe(document.body, { subtree: true, childList: true, characterData: true })
})()`

/** Since `listenToPage`: what had the focus when it was lost, and the texts of live regions after each change. */
export async function heardOf(
  page: Page,
): Promise<{ readonly lost: readonly string[]; readonly announced: readonly string[] }> {
  return page.evaluate('window.heard')
}

/** Performs an action with the keyboard only: gives an element the focus and presses a key. */
export async function pressKey(
  page: Page,
  role: 'button' | 'link',
  name: string | RegExp,
  key = 'Enter',
): Promise<void> {
  const exact = typeof name === 'string'
  await page.getByRole(role, { name, exact }).first().focus()
  await page.keyboard.press(key)
}

/** The accessible name of the focused element, or its text. */
export function focusedName(page: Page): Promise<string> {
  return page.evaluate(
    `(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).replace(/\\s+/g, ' ').trim()`,
  )
}
