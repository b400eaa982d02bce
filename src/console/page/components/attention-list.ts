import type { AttentionItem } from '../attention.ts'
import { html } from '../html.ts'
import { hrefOf } from '../location.ts'

/** Maximum number of items shown. Further ones are in the lists of connectors and resources. */
const SHOWN_MAX = 50

/** What somebody has to look at, with the reason and the next step. `isComplete` is false while something is being read. */
export function AttentionList({
  items,
  isComplete,
}: {
  readonly items: readonly AttentionItem[]
  readonly isComplete: boolean
}) {
  return html`<section aria-labelledby="attention">
    <h2 id="attention">Needs attention</h2>
    ${
      items.length === 0 &&
      html`<p role="status">${isComplete ? 'Nothing: everything that this page can see works.' : 'Loading …'}</p>`
    }
    <ul class="attention">
      ${items.slice(0, SHOWN_MAX).map(
        ({
          tone,
          state,
          title,
          reason,
          nextStep,
          path,
          filters,
        }) => html`<li key=${`${state} ${title} ${filters['runtime']}`}>
          <span class=${`badge ${tone}`}>${state}</span>
          <a href=${hrefOf(path, filters)}>${title}</a>
          <span class="reason">${reason}</span>
          <span class="next">${nextStep}</span>
        </li>`,
      )}
    </ul>
    ${items.length > SHOWN_MAX && html`<p>${items.length - SHOWN_MAX} more are in the lists of connectors and resources.</p>`}
  </section>`
}
