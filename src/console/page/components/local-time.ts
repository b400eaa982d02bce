import { html } from '../html.ts'

/** A time of the browser's zone, as `2026-11-29 08:05:07`. Exact times of records are in UTC, with `Z`. */
export function LocalTime({ ms, part }: { readonly ms: number; readonly part?: 'time' }) {
  const iso = new Date(ms).toISOString()
  const [date = '', time = ''] = localText(ms).split(' ')
  return html`<time datetime=${iso} title=${iso}>${part === 'time' ? time : `${date} ${time}`}</time>`
}

function localText(ms: number): string {
  const date = new Date(ms)
  const digits = (value: number, length = 2) => String(value).padStart(length, '0')
  const day = `${digits(date.getFullYear(), 4)}-${digits(date.getMonth() + 1)}-${digits(date.getDate())}`
  return `${day} ${digits(date.getHours())}:${digits(date.getMinutes())}:${digits(date.getSeconds())}`
}
