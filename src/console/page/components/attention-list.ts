import type { AttentionItem } from '../attention.ts'
import { html } from '../html.ts'
import { hrefOf } from '../location.ts'
import { StateBadge } from './state-badge.ts'

/** Maximum number of items shown of one kind. Further ones can be opened, or are in the lists of connectors and resources. */
const SHOWN_MAX = 8
const OPENED_MAX = 100

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
      ${[...Map.groupBy(items, ({ state, nextStep }) => `${state}\n${nextStep}`)].map(
        ([kind, ofKind]) => html`<${Kind} key=${kind} items=${ofKind} />`,
      )}
    </ul>
  </section>`
}

/** Items of the same state with the same next step, which is said once. */
function Kind({ items }: { readonly items: readonly AttentionItem[] }) {
  const [first] = items
  if (first === undefined) return null
  const further = items.slice(SHOWN_MAX, SHOWN_MAX + OPENED_MAX)
  const left = items.length - SHOWN_MAX - further.length
  return html`<li>
    <p><${StateBadge} state=${first.state} tone=${first.tone} />
      ${items.length > 1 && html`<strong>${items.length.toLocaleString('en')}</strong>`}
      <span class="next">${first.nextStep}</span></p>
    <${Items} items=${items.slice(0, SHOWN_MAX)} />
    ${
      further.length > 0 &&
      html`<details><summary>${(items.length - SHOWN_MAX).toLocaleString('en')} more<span class="hidden"> with ${first.state}: ${first.nextStep}</span></summary>
        <${Items} items=${further} />
        ${left > 0 && html`<p>${left.toLocaleString('en')} more are in the lists of connectors and resources.</p>`}
      </details>`
    }
  </li>`
}

function Items({ items }: { readonly items: readonly AttentionItem[] }) {
  return html`<ul class="attention-items">${items.map(
    ({ title, reason, path, filters }) => html`<li key=${`${title} ${filters['runtime']}`}>
      <a href=${hrefOf(path, filters)}>${title}</a> <span class="reason">${reason}</span>
    </li>`,
  )}</ul>`
}
