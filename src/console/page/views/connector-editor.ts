import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { request } from '../api.ts'
import { ConfigEditor } from '../components/config-editor.ts'
import { notify } from '../components/notices.ts'
import { RecordPreview } from '../components/record-preview.ts'
import { sentence } from '../components/sentence.ts'
import { type ConfigDraft, changesBetween, draftOf } from '../config-draft.ts'
import { declaringResource, inReadingOrder, withoutOwner } from '../config-fields.ts'
import { html } from '../html.ts'
import { hrefOf } from '../location.ts'
import { pathSegment } from '../path-segment.ts'
import { refreshAll } from '../queries.ts'
import { type Runtime, useRights } from '../session.ts'
import type { Connector, ConnectorConfig } from '../wire.ts'

type Edit = { readonly base: ConnectorConfig; readonly draft: ConfigDraft }
type EditorProps = { readonly runtime: Runtime; readonly connector: Connector }

/** Edits that are not saved, by the path of their connector: they outlast a look at another view. */
const edits = signal<Readonly<Record<string, Edit>>>({})
const FIXED: ReadonlySet<string> = new Set(['name'])

/** Edits the configuration. What a resource declares is not offered: the operator would undo the change. */
export function ConnectorEditor({ runtime, connector }: EditorProps) {
  const { name, config } = connector
  const may = useRights('connectors', name)
  const path = `${runtime.basePath}/connectors/${pathSegment(name)}`
  const manifest = html`<a href=${hrefOf(['connectors', name, 'manifest'], { runtime: runtime.name })}>manifest</a>`
  if (declaringResource(config))
    return html`<p>This connector is read-only here, because a resource declares it. Copy its ${manifest} and change that.</p>`
  if (!may('write')) return html`<p>You may not change the configuration of this connector.</p>`
  const edit = edits.value[path] ?? { base: config, draft: draftOf(inReadingOrder(withoutOwner(config))) }
  const keep = (next: Edit | undefined) => {
    const { [path]: _, ...others } = edits.value
    edits.value = next === undefined ? others : { ...others, [path]: next }
  }
  return html`<${Form} path=${path} connector=${connector} runtime=${runtime} edit=${edit} onEdit=${keep} />`
}

type FormProps = EditorProps & {
  readonly path: string
  readonly edit: Edit
  readonly onEdit: (edit: Edit | undefined) => void
}

function Form({ path, connector, runtime, edit, onEdit }: FormProps) {
  const { base, draft } = edit
  const { name } = connector
  const [error, setError] = useState('')
  const [isSaving, setSaving] = useState(false)
  const changes = changesBetween(base, draft.config)
  const meanwhile = changesBetween(base, connector.config)
  const save = async (event: Event) => {
    event.preventDefault()
    if (isSaving) return
    setSaving(true)
    setError('')
    try {
      // Kafka Connect has no condition for a change, so a change of another person is detected just before.
      const current = await request<Connector>('GET', path)
      if (changesBetween(connector.config, current.config).length > 0) {
        await refreshAll()
        throw new Error('Nothing is saved: the configuration has changed. Compare it with yours before you save again.')
      }
      await request('PUT', `${path}/config`, draft.config)
      onEdit(undefined)
      notify(sentence`Changed the configuration of ${name}.`)
      await refreshAll()
      location.hash = hrefOf(['connectors', name], { runtime: runtime.name })
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure))
      setSaving(false)
    }
  }
  return html`<section aria-labelledby="edit">
    <h2 id="edit">Edit the configuration</h2>
    ${
      meanwhile.length > 0 &&
      html`<p class="error" role="alert">The configuration has changed since you began:
        ${meanwhile.map(({ key }) => key).join(', ')}. Saving replaces it with yours.</p>`
    }
    <form onSubmit=${save}>
      <${ConfigEditor} basePath=${runtime.basePath} draft=${draft} fixed=${FIXED}
        onDraft=${(next: ConfigDraft) => onEdit({ base, draft: next })} />
      <${RecordPreview} basePath=${runtime.basePath} name=${name} config=${draft.config} level="3" />
      <p role="status">${changes.length === 0 ? 'No key is changed.' : `Changes ${changes.map(({ key, to }) => (to === undefined ? `${key} (removed)` : key)).join(', ')}.`}</p>
      ${error && html`<p class="error trace" role="alert">${error}</p>`}
      <div class="buttons">
        <button class="primary" aria-disabled=${isSaving} disabled=${changes.length === 0 || draft.error !== undefined}>Save</button>
        <button type="button" disabled=${changes.length === 0 && !draft.error} onClick=${() => onEdit(undefined)}>Discard the changes</button>
      </div>
    </form>
  </section>`
}
