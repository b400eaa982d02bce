import { useState } from 'preact/hooks'
import { counted } from '../../../common/counted.ts'
import { valueInto } from '../components/log-in.ts'
import { type ConfigField, configFields, groupFields, searchFields } from '../config-fields.ts'
import { useValidation } from '../config-validation.ts'
import { html } from '../html.ts'
import { pageLocation, setFilter } from '../location.ts'
import type { Runtime } from '../session.ts'
import type { ConnectorConfig } from '../wire.ts'

type ConfigurationProps = { readonly runtime: Runtime; readonly config: ConnectorConfig }

/** The effective configuration: the keys that are set, then the defaults, each with its documentation. */
export function ConnectorConfiguration({ runtime, config }: ConfigurationProps) {
  const { report, error } = useValidation(runtime.basePath, config)
  const search = pageLocation.value.filters['key'] ?? ''
  const fields = searchFields(configFields(config, report), search)
  const set = fields.filter(({ value, errors }) => value !== undefined || errors.length > 0)
  const defaults = fields.filter((field) => !set.includes(field))
  return html`<section aria-labelledby="configuration">
    <h2 id="configuration">Configuration</h2>
    <form class="filters" role="search" aria-label="Configuration keys" onSubmit=${(event: Event) => event.preventDefault()}>
      <label>Search keys, values and documentation
        <input type="search" value=${search} onInput=${valueInto((value) => setFilter('key', value))} /></label>
      <span role="status">${set.length} set, ${counted(defaults.length, 'default')}</span>
    </form>
    ${error && html`<p class="error" role="alert">The keys cannot be described: ${error}</p>`}
    <${FieldList} fields=${set} />
    ${
      defaults.length > 0 &&
      html`<details open=${search !== ''}>
        <summary>${counted(defaults.length, 'key')} with ${defaults.length === 1 ? 'its default' : 'their defaults'}</summary>
        ${[...groupFields(defaults)].map(
          ([group, ofGroup]) => html`<h3 key=${group}>${group}</h3><${FieldList} fields=${ofGroup} />`,
        )}
      </details>`
    }
  </section>`
}

function FieldList({ fields }: { readonly fields: readonly ConfigField[] }) {
  return html`<dl class="config">
    ${fields.map(
      (field) => html`<dt key=${field.name}>${field.name}</dt>
        <dd>
          <${FieldValue} field=${field} />
          ${field.errors.map((message) => html`<p class="error">${message}</p>`)}
          ${field.documentation && html`<p class="documentation">${field.documentation}</p>`}
          ${field.value !== undefined && field.defaultValue && html`<p class="documentation">Default: ${field.defaultValue}</p>`}
        </dd>`,
    )}
  </dl>`
}

/** A secret that the API discloses is still not for everybody who sees the screen. */
function FieldValue({ field }: { readonly field: ConfigField }) {
  const [isShown, setShown] = useState(false)
  const { value, defaultValue, isSecret, isRequired } = field
  if (value === undefined) {
    return html`<span class="default">${defaultValue || (isRequired ? 'required, not set' : 'not set')}</span>`
  }
  if (value === '') return html`<span class="default">empty</span>`
  if (!isSecret || value === '[hidden]') return html`<code>${value}</code>`
  return html`<code>${isShown ? value : '••••••••'}</code>
    <button type="button" aria-pressed=${isShown} aria-label=${`Show ${field.name}`} onClick=${() => setShown(!isShown)}>Show</button>`
}
