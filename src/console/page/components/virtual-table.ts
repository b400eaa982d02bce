import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from '../html.ts'
import { pageLocation, setFilter } from '../location.ts'

export type TableColumn<Row> = {
  readonly title: ComponentChildren
  readonly cell: (row: Row) => ComponentChildren
  /** Relative width. Default: 1. */
  readonly width?: number
  /** Minimum width on a narrow screen, where two columns are shown: of the first 0, of the last the longest state of a connector. */
  readonly narrowPx?: number
  /** Aligned at the right. */
  readonly isNumber?: boolean
  /** For a checkbox: also shown on a narrow screen. */
  readonly isNarrow?: boolean
  /** Sorts by this column, first in the given order. */
  readonly onSort?: () => void
  readonly sorted?: 'ascending' | 'descending'
}

export type VirtualTableProps<Row> = {
  readonly label: string
  readonly columns: readonly TableColumn<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** Shown instead of rows. */
  readonly empty: ComponentChildren
}

/** As in style.css. */
const ROW_PX = 36
/** The height of what is shown instead of rows. */
const EMPTY_ROWS = 2
/** Rows above and below the visible ones, so that fast scrolling shows no gap. */
const MARGIN_ROWS = 10

/** The longest state of a connector. */
const STATE_PX = 112

/** A table that renders the visible rows only, so that its cost is independent of the number of rows. */
export function VirtualTable<Row>({ label, columns, rows, keyOf, empty }: VirtualTableProps<Row>) {
  const body = useRef<HTMLDivElement>(null)
  const [{ top, height, above }, setWindow] = useState({ top: 0, height: 600, above: 260 })
  const focused = useRef<{ readonly at: number; readonly key: string }>(undefined)
  useEffect(() => {
    const element = body.current
    if (element === null) return undefined
    const measure = () => {
      const above = Math.round(element.getBoundingClientRect().top + window.scrollY)
      setWindow({ top: element.scrollTop, height: element.clientHeight, above })
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [])
  const first = Math.max(0, Math.min(Math.floor(top / ROW_PX), rows.length - 1) - MARGIN_ROWS)
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW_PX) + MARGIN_ROWS)
  const rendered = rows.slice(first, last).map((row, at) => ({ row, at: first + at, key: keyOf(row) }))
  // Scrolling does not take the focus away: its row stays.
  const kept = focused.current
  const keptRow = kept && rows[kept.at]
  if (kept && keptRow !== undefined && keyOf(keptRow) === kept.key) {
    if (kept.at < first) rendered.unshift({ ...kept, row: keptRow })
    if (kept.at >= last) rendered.push({ ...kept, row: keptRow })
  }
  const rememberFocus = ({ target }: FocusEvent) => {
    const index = target instanceof Element && target.closest('[role=row]')?.getAttribute('aria-rowindex')
    const at = Number(index) - 2
    const row = rows[at]
    focused.current = row && { at, key: keyOf(row) }
  }
  const rowHeader = columns.findIndex(({ isNarrow }) => !isNarrow)
  const widthsOf = (some: readonly TableColumn<Row>[], minimumPx: (column: TableColumn<Row>, at: number) => number) =>
    some
      .map((column, at) => (column.isNarrow ? '24px' : `minmax(${minimumPx(column, at)}px, ${column.width ?? 1}fr)`))
      .join(' ')
  // As in style.css: a narrow screen has the first two columns besides a checkbox.
  const narrow = columns.slice(0, columns[0]?.isNarrow ? 3 : 2)
  const style = {
    '--columns': widthsOf(columns, () => 0),
    '--narrow-columns': widthsOf(narrow, ({ narrowPx }, at) => narrowPx ?? (at === narrow.length - 1 ? STATE_PX : 0)),
    '--rows': `${(rows.length || EMPTY_ROWS) * ROW_PX}px`,
    '--above': `${above}px`,
  }
  return html`<div class=${columns[0]?.isNarrow ? 'table selectable' : 'table'} role="table" aria-label=${label} aria-rowcount=${rows.length + 1} style=${style}>
    <div role="rowgroup" class="titles">
      <div class="row head" role="row" aria-rowindex="1">
        ${columns.map(
          ({
            title,
            onSort,
            sorted,
            isNumber,
          }) => html`<span class=${isNumber ? 'number' : undefined} role="columnheader" aria-sort=${onSort && (sorted ?? 'none')}>
            ${onSort ? html`<button class="sort" onClick=${onSort}>${title} <span aria-hidden="true">${arrowOf(sorted)}</span></button>` : title}
          </span>`,
        )}
      </div>
    </div>
    <div class="body" ref=${body} role="rowgroup" tabindex="0" aria-label=${`${label}: rows`} onFocusIn=${rememberFocus}>
      ${rows.length === 0 && html`<div class="empty" role="row"><span role="cell">${empty}</span></div>`}
      <div style=${{ height: `${rows.length * ROW_PX}px`, position: 'relative' }} role="presentation">
        ${rendered.map(
          ({ row, at, key }) => html`<div class="row" role="row" key=${key} aria-rowindex=${at + 2}
            style=${{ transform: `translateY(${at * ROW_PX}px)` }}>
            ${columns.map(
              ({ cell, isNumber }, column) =>
                html`<span class=${isNumber ? 'number' : undefined} role=${column === rowHeader ? 'rowheader' : 'cell'}>${cell(row)}</span>`,
            )}
          </div>`,
        )}
      </div>
    </div>
  </div>`
}

/** The order of a list by a column is in the URL; choosing the column again reverses it. */
export function sortBy(column: string): Pick<TableColumn<unknown>, 'onSort' | 'sorted'> {
  const sort = pageLocation.value.filters['sort'] ?? ''
  return {
    onSort: () => setFilter('sort', sort === column ? `-${column}` : column),
    ...(sort === column ? { sorted: 'ascending' as const } : {}),
    ...(sort === `-${column}` ? { sorted: 'descending' as const } : {}),
  }
}

function arrowOf(sorted: TableColumn<unknown>['sorted']): string {
  return sorted === undefined ? '' : sorted === 'ascending' ? '▲' : '▼'
}
