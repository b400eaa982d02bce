import { useState } from 'preact/hooks'
import { counted } from '../../../common/counted.ts'
import { request } from '../api.ts'
import { BULK_ACTIONS, type BulkAction, type BulkFailure, performOnEach, SELECTED_MAX } from '../bulk-action.ts'
import type { ConnectorRow } from '../connector-rows.ts'
import { html } from '../html.ts'
import { pathSegment } from '../path-segment.ts'
import { compareText } from '../sort-rows.ts'
import { ActionButton, REPORTED } from './action-button.ts'

type BulkActionsProps = {
  readonly basePath: string
  readonly selected: readonly ConnectorRow[]
  readonly onSelect: (names: readonly string[]) => void
}

type BulkResult = { readonly action: BulkAction; readonly count: number; readonly failures: readonly BulkFailure[] }

/** Actions on the selected connectors, after one question that names them. The worker decides for each whether the user may do it. */
export function BulkActions({ basePath, selected, onSelect }: BulkActionsProps) {
  const [result, setResult] = useState<BulkResult>()
  const names = selected.map(({ name }) => name)
  const run = (action: BulkAction) => async () => {
    const failures = await performOnEach(names, (name) =>
      request(action.method, `${basePath}/connectors/${pathSegment(name)}${action.suffix}`),
    )
    setResult({ action, count: names.length, failures })
    // What failed stays selected.
    onSelect(failures.map(({ connector }) => connector))
    return REPORTED
  }
  return html`<div class="bulk" role="group" aria-label="Selected connectors">
      <span role="status">${counted(names.length, 'connector')} selected${names.length === SELECTED_MAX && ', which is the maximum'}</span>
      ${BULK_ACTIONS.map(
        (action) => html`<${ActionButton} key=${action.name} run=${run(action)} done=${action.done}
          isDangerous=${action.isDangerous} isDisabled=${names.length === 0} object="the selected connectors"
          question=${html`<${Question} action=${action} selected=${selected} />`}>${action.name}<//>`,
      )}
      ${names.length > 0 && html`<button type="button" onClick=${() => onSelect([])}>Clear the selection</button>`}
    </div>
    <div role="status">${result && html`<${Result} ...${result} onClose=${() => setResult(undefined)} />`}</div>`
}

function Question({ action, selected }: { readonly action: BulkAction; readonly selected: readonly ConnectorRow[] }) {
  const declared = selected.filter(({ isDeclared }) => isDeclared).length
  return html`<p>${action.name} ${counted(selected.length, 'connector')}? ${action.consequence}</p>
    <ul class="names" tabindex="0" aria-label="Connectors">${selected.toSorted((a, b) => compareText(a.name, b.name)).map(({ name }) => html`<li key=${name}><bdi>${name}</bdi></li>`)}</ul>
    ${declared > 0 && html`<p>Resources declare ${declared} of them: the operator undoes this.</p>`}`
}

function Result({ action, count, failures, onClose }: BulkResult & { readonly onClose: () => void }) {
  const done = count - failures.length
  return html`<section aria-label="Result">
    <p>${action.done} ${done} of ${counted(count, 'connector')}. <button type="button" aria-label="Close the result" onClick=${onClose}>Close</button></p>
    ${
      failures.length > 0 &&
      html`<ul class="names" tabindex="0" aria-label="Failed">${failures.map(
        ({ connector, reason }) => html`<li key=${connector} class="error"><bdi>${connector}</bdi>: ${reason}</li>`,
      )}</ul>`
    }
  </section>`
}
