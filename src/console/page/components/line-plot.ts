import { useState } from 'preact/hooks'
import { html } from '../html.ts'
import { formatValue, highestOf, lastOf, type Plot, plotPath, plotSpanMs, plotTable } from '../metrics-plots.ts'
import { LocalTime } from './local-time.ts'

const [WIDTH, HEIGHT] = [600, 140]

/** The lines of a plot over the last hour, with the last value of each as text and all values in a table on request. */
export function LinePlot({ plot }: { readonly plot: Plot }) {
  const { title, unit, times, lines, note } = plot
  const highest = Math.max(0, ...lines.map(({ values }) => highestOf(values) ?? 0))
  const spanMs = plotSpanMs(times)
  const area = { times, endMs: times.at(-1) ?? 0, spanMs, top: highest || 1, width: WIDTH, height: HEIGHT }
  const now = lines.map(({ label, values }) => `${label} ${formatValue(lastOf(values))}`).join(', ')
  return html`<figure class="plot" aria-label=${title}>
    <figcaption><h3>${title} <small>${unit}</small></h3></figcaption>
    <ul>${lines.map(
      ({ label, values }, at) => html`<li key=${label} class=${`line-${at}`}>
        <svg viewBox="0 0 24 8" aria-hidden="true"><path d="M0 4H24" /></svg>
        ${label} <strong>${formatValue(lastOf(values))}</strong></li>`,
    )}</ul>
    <svg class="lines" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img"
      aria-label=${`${title} of the last hour in ${unit}: at most ${formatValue(highest)}, now ${now}`}>
      ${lines.map(({ label, values }, at) => html`<path key=${label} class=${`line-${at}`} d=${plotPath(values, area)} />`).reverse()}
    </svg>
    <p class="axis"><span>${spanMs / 60_000} min ago</span><span>at most ${formatValue(highest)}</span><span>now</span></p>
    ${note && html`<p class="reason">${note}</p>`}
    <${ValueTable} plot=${plot} />
  </figure>`
}

function ValueTable({ plot }: { readonly plot: Plot }) {
  const [isOpen, setOpen] = useState(false)
  const onToggle = (event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)
  return html`<details onToggle=${onToggle}>
    <summary>Table<span class="hidden"> of ${plot.title.toLowerCase()}</span></summary>
    ${
      isOpen &&
      html`<div class="scrolled" tabindex="0" role="region" aria-label=${`Values of ${plot.title.toLowerCase()}`}><table aria-label=${plot.title}>
        <thead><tr><th scope="col">Time</th>${plot.lines.map(({ label }) => html`<th scope="col" key=${label}>${label}</th>`)}</tr></thead>
        <tbody>${plotTable(plot).map(
          ({ time, values }) => html`<tr key=${time}><th scope="row"><${LocalTime} ms=${time} part="time" /></th>
            ${values.map((value) => html`<td>${value === null ? '' : formatValue(value)}</td>`)}</tr>`,
        )}</tbody>
      </table></div>`
    }
  </details>`
}
