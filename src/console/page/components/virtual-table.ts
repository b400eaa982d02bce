import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from '../html.ts'

export type TableColumn<Row> = {
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  /** Relative width. Default: 1. */
  readonly width?: number
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
/** Rows above and below the visible ones, so that fast scrolling shows no gap. */
const MARGIN_ROWS = 10

/** A table that renders the visible rows only, so that its cost is independent of the number of rows. */
export function VirtualTable<Row>({ label, columns, rows, keyOf, empty }: VirtualTableProps<Row>) {
  const body = useRef<HTMLDivElement>(null)
  const [{ top, height }, setWindow] = useState({ top: 0, height: 600 })
  useEffect(() => {
    const element = body.current
    if (element === null) return undefined
    const measure = () => setWindow({ top: element.scrollTop, height: element.clientHeight })
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
  const template = columns.map(({ width = 1 }) => `minmax(0, ${width}fr)`).join(' ')
  return html`<div class="table" role="table" aria-label=${label} aria-rowcount=${rows.length + 1}>
    <div role="rowgroup">
      <div class="row head" role="row" aria-rowindex="1" style=${{ '--columns': template }}>
        ${columns.map(
          ({ title, onSort, sorted }) => html`<span role="columnheader" aria-sort=${onSort && (sorted ?? 'none')}>
            ${onSort ? html`<button class="sort" onClick=${onSort}>${title} ${arrowOf(sorted)}</button>` : title}
          </span>`,
        )}
      </div>
    </div>
    <div class="body" ref=${body} role="rowgroup" tabindex="0" aria-label=${`${label}: rows`}>
      ${rows.length === 0 && html`<p class="empty">${empty}</p>`}
      <div style=${{ height: `${rows.length * ROW_PX}px`, position: 'relative' }} role="presentation">
        ${rows.slice(first, last).map(
          (row, at) => html`<div class="row" role="row" key=${keyOf(row)} aria-rowindex=${first + at + 2}
            style=${{ '--columns': template, transform: `translateY(${(first + at) * ROW_PX}px)` }}>
            ${columns.map(({ cell }) => html`<span role="cell">${cell(row)}</span>`)}
          </div>`,
        )}
      </div>
    </div>
  </div>`
}

function arrowOf(sorted: TableColumn<unknown>['sorted']): string {
  return sorted === undefined ? '' : sorted === 'ascending' ? '▲' : '▼'
}
