import { html } from '../html.ts'
import { pageLocation, setFilter } from '../location.ts'
import { valueInto } from './log-in.ts'

type FilterChoiceProps = { readonly name: string; readonly title: string; readonly values: readonly string[] }

/** A filter of a list by one of the values that its rows have. The choice is in the URL. */
export function FilterChoice({ name, title, values }: FilterChoiceProps) {
  return html`<label>${title}
    <select value=${pageLocation.value.filters[name] ?? ''} onChange=${valueInto((value) => setFilter(name, value))}>
      <option value="">all</option>
      ${values.map((value) => html`<option key=${value} value=${value}>${value}</option>`)}
    </select>
  </label>`
}
