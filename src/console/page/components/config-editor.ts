import { useMemo, useState } from 'preact/hooks'
import { type ConfigDraft, withText, withValue } from '../config-draft.ts'
import { type ConfigField, configFields, groupFields, searchFields } from '../config-fields.ts'
import { useValidation } from '../config-validation.ts'
import { connectorManifest } from '../connector-manifest.ts'
import { html } from '../html.ts'
import { CopiedText } from './copied-text.ts'
import { valueInto } from './log-in.ts'

export type ConfigEditorProps = {
  readonly basePath: string
  readonly draft: ConfigDraft
  readonly onDraft: (draft: ConfigDraft) => void
  /** Keys that cannot be changed here. */
  readonly fixed: ReadonlySet<string>
}

/** A form for all keys of a plugin, validated while somebody types, beside the same configuration as JSON or a manifest. */
export function ConfigEditor({ basePath, draft, onDraft, fixed }: ConfigEditorProps) {
  const { report, error, isOutdated } = useValidation(basePath, draft.config)
  const [search, setSearch] = useState('')
  const [isManifest, setManifest] = useState(false)
  const className = draft.config['connector.class']
  // A field keeps its place while somebody types into it.
  const [textEdits, setTextEdits] = useState(0)
  const prominent = useMemo(() => new Set(Object.keys(draft.config)), [className, textEdits])
  const fields = configFields(draft.config, report)
  const found = searchFields(fields, search).filter(({ name }) => !fixed.has(name))
  const isFirst = ({ name, isRequired, importance }: ConfigField) =>
    prominent.has(name) || isRequired || importance === 'HIGH'
  const others = found.filter((field) => !isFirst(field))
  const set = (name: string) => (value: string | undefined) => onDraft(withValue(draft, name, value))
  const editText = (text: string) => {
    onDraft(withText(draft, text))
    setTextEdits(textEdits + 1)
  }
  const groups = (ofFields: readonly ConfigField[]) =>
    [...groupFields(ofFields)].map(
      ([group, ofGroup]) => html`<fieldset key=${group}><legend>${group}</legend>
        ${ofGroup.map((field) => html`<${FieldInput} key=${field.name} field=${field} onValue=${set(field.name)} />`)}
      </fieldset>`,
    )
  const secretKeys = new Set(fields.flatMap(({ name, isSecret }) => (isSecret ? [name] : [])))
  const errorCount = fields.reduce((sum, { errors }) => sum + errors.length, 0)
  return html`<div class="config-editor">
    <div>
      <label>Search keys and documentation
        <input type="search" value=${search} onInput=${valueInto(setSearch)} /></label>
      <p role="status" aria-live=${isOutdated ? 'off' : undefined} class=${errorCount > 0 && !isOutdated ? 'error' : ''}>
        ${!className ? 'Choose a plugin to see its keys.' : isOutdated ? 'Validating …' : errorCount === 0 ? 'The worker finds no error.' : `Errors that the worker finds: ${errorCount}.`}
      </p>
      ${error && html`<p class="error" role="alert">${error}</p>`}
      ${groups(found.filter(isFirst))}
      ${
        others.length > 0 &&
        html`<details open=${search !== '' || others.some(({ errors }) => errors.length > 0)}>
          <summary>${others.length} more keys</summary>
          ${groups(others)}
        </details>`
      }
    </div>
    <div>
      <div class="buttons" role="group" aria-label="Text of the configuration">
        <button type="button" aria-pressed=${!isManifest} onClick=${() => setManifest(false)}>JSON</button>
        <button type="button" aria-pressed=${isManifest} onClick=${() => setManifest(true)}>Manifest</button>
      </div>
      ${
        isManifest
          ? html`<${CopiedText} name="Manifest" text=${connectorManifest({ connector: draft.config['name'] ?? '', config: draft.config, secretKeys })} />`
          : html`<label>Configuration as JSON
              <textarea class="json" spellcheck="false" rows="24" value=${draft.text} aria-invalid=${draft.error !== undefined}
                aria-describedby="json-error" onInput=${valueInto(editText)}></textarea></label>
            ${draft.error && html`<p id="json-error" class="error" role="alert">${draft.error}</p>`}`
      }
    </div>
  </div>`
}

type FieldInputProps = { readonly field: ConfigField; readonly onValue: (value: string | undefined) => void }

function FieldInput({ field, onValue }: FieldInputProps) {
  const { name, documentation, errors, isRequired, isApplied, recommended } = field
  const id = `field-${name}`
  return html`<div class="field">
    <label for=${id}>${name}${isRequired && ' (required)'}</label>
    <${FieldControl} id=${id} field=${field} onValue=${onValue} />
    <datalist id=${`${id}-values`}>${recommended.map((one) => html`<option value=${one}></option>`)}</datalist>
    <div id=${`${id}-about`}>
      ${errors.map((message) => html`<p class="error">${message}</p>`)}
      ${!isApplied && html`<p class="documentation">It has no effect with the other values.</p>`}
      ${documentation && html`<p class="documentation">${documentation}</p>`}
    </div>
  </div>`
}

/** An empty input removes the key, so that its default applies. */
function FieldControl({ id, field, onValue }: FieldInputProps & { readonly id: string }) {
  const { value, defaultValue, errors, isRequired, isSecret, type } = field
  const change = valueInto((text) => onValue(text === '' ? undefined : text))
  const common = {
    id,
    'aria-invalid': errors.length > 0,
    'aria-describedby': `${id}-about`,
    'aria-required': isRequired,
  }
  const placeholder = defaultValue ? `default: ${defaultValue}` : ''
  // A placeholder of a configuration provider is not a boolean, but valid.
  if (type === 'BOOLEAN' && ['true', 'false', undefined].includes(value)) {
    return html`<select ...${common} value=${value ?? ''} onChange=${change}>
      <option value="">${placeholder || 'not set'}</option><option>true</option><option>false</option>
    </select>`
  }
  if (value?.includes('\n')) return html`<textarea ...${common} rows="4" value=${value} onInput=${change}></textarea>`
  return html`<input ...${common} type=${isSecret ? 'password' : 'text'} autocomplete=${isSecret ? 'new-password' : 'off'}
    spellcheck="false" list=${`${id}-values`} value=${value ?? ''} placeholder=${placeholder} onInput=${change} />`
}
