import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { request } from '../api.ts'
import { ConfigEditor } from '../components/config-editor.ts'
import { valueInto } from '../components/log-in.ts'
import { notify } from '../components/notices.ts'
import { RecordPreview } from '../components/record-preview.ts'
import { sentence } from '../components/sentence.ts'
import { type ConfigDraft, draftOf, withValue } from '../config-draft.ts'
import { html } from '../html.ts'
import { hrefOf } from '../location.ts'
import { refreshAll, useQuery } from '../queries.ts'
import { type Runtime, useRights } from '../session.ts'

type Plugin = { readonly class: string; readonly type: string; readonly version?: string }

const EMPTY = draftOf({ name: '', 'connector.class': '' })
/** Outlasts a look at another view. */
const draft = signal<ConfigDraft>(EMPTY)
const FIXED: ReadonlySet<string> = new Set(['name', 'connector.class'])

/** Creates a connector: its plugin, its name, and the form of its keys. */
export function ConnectorCreation({ runtime }: { readonly runtime: Runtime }) {
  const plugins = useQuery<readonly Plugin[]>(`${runtime.basePath}/connector-plugins`)
  const [state, setState] = useState('RUNNING')
  const [error, setError] = useState('')
  const [isSaving, setSaving] = useState(false)
  const { config } = draft.value
  const { name = '', 'connector.class': className = '' } = config
  // The JSON may have a class by a short name, or one that the worker does not have.
  const isListed = className === '' || plugins.data.value?.some((plugin) => plugin.class === className)
  const may = useRights('connectors', name)
  const set = (key: string) =>
    valueInto((value) => {
      draft.value = withValue(draft.value, key, value)
    })
  const create = async (event: Event) => {
    event.preventDefault()
    if (isSaving) return
    setSaving(true)
    setError('')
    try {
      await request('POST', `${runtime.basePath}/connectors`, { name, config, initial_state: state })
      draft.value = EMPTY
      notify(sentence`Created ${name}.`)
      await refreshAll()
      location.hash = hrefOf(['connectors', name], { runtime: runtime.name })
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure))
      setSaving(false)
    }
  }
  return html`<p><a href=${hrefOf(['connectors'], { runtime: runtime.name })}>Connectors</a></p>
    <h1>Create a connector</h1>
    <section aria-label="New connector">
      <form onSubmit=${create}>
        ${plugins.error.value && html`<p class="error" role="alert">${plugins.error.value.message}</p>`}
        <div class="filters">
          <label>Plugin
            <select required value=${className} onChange=${set('connector.class')}>
              <option value="">choose one</option>
              ${!isListed && html`<option value=${className}>${className}</option>`}
              ${['source', 'sink'].map(
                (type) => html`<optgroup label=${type}>
                  ${plugins.data.value
                    ?.filter((plugin) => plugin.type === type)
                    .map((plugin) => html`<option key=${plugin.class} value=${plugin.class}>${plugin.class}</option>`)}
                </optgroup>`,
              )}
            </select></label>
          <label>Name <input required value=${name} autocomplete="off" onInput=${set('name')} /></label>
          <label>Initial state
            <select value=${state} onChange=${valueInto(setState)}>
              <option>RUNNING</option><option>PAUSED</option><option>STOPPED</option>
            </select></label>
        </div>
        <${ConfigEditor} basePath=${runtime.basePath} draft=${draft.value} fixed=${FIXED}
          onDraft=${(next: ConfigDraft) => {
            draft.value = next
          }} />
        ${
          name !== '' &&
          className !== '' &&
          may('write') &&
          html`<${RecordPreview} basePath=${runtime.basePath} name=${name} config=${config} level="2" />`
        }
        ${error && html`<p class="error trace" role="alert">${error}</p>`}
        <p role="status">${name !== '' && !may('write') && 'You may not create a connector with this name.'}</p>
        <div class="buttons">
          <button class="primary" aria-disabled=${isSaving} disabled=${name === '' || className === '' || !may('write') || draft.value.error !== undefined}>
            Create</button>
        </div>
      </form>
    </section>`
}
