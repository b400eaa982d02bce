import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { topicUses } from '../../../common/topic-use.ts'
import { request } from '../api.ts'
import { ActionButton } from '../components/action-button.ts'
import { valueInto } from '../components/log-in.ts'
import { OffsetPartition } from '../components/offset-partition.ts'
import { sentence } from '../components/sentence.ts'
import type { DeclaringResource } from '../config-fields.ts'
import { html } from '../html.ts'
import {
  type OffsetListing,
  type OffsetPreview,
  type OffsetRow,
  offsetRows,
  previewOffsets,
  previewReset,
} from '../offset-preview.ts'
import { useQuery } from '../queries.ts'
import { useRights } from '../session.ts'
import type { Connector } from '../wire.ts'

type OffsetsProps = {
  readonly path: string
  readonly connector: Connector
  readonly state: string
  readonly declared: DeclaringResource | undefined
}
type Edits = Readonly<Record<string, string>>

/** The offsets of a connector. They can be changed while it is stopped, after a preview of the consequence. */
export function OffsetsView({ path, connector, state, declared }: OffsetsProps) {
  const { name } = connector
  const { data, error } = useQuery<OffsetListing>(`${path}/offsets`, { kind: 'connector', name })
  const may = useRights('connectors', name)
  const [edits, setEdits] = useState<Edits>({})
  const [named, setNamed] = useState<readonly OffsetRow[]>([])
  const listing = data.value ?? { offsets: [] }
  const rows = offsetRows(listing, named)
  const preview = previewOffsets(rows, edits)
  const isEditable = may('offsets') && state === 'STOPPED' && declared === undefined
  const discard = () => {
    setEdits({})
    setNamed([])
  }
  const alter = async () => {
    await request('PATCH', `${path}/offsets`, {
      offsets: preview.changes.map(({ partition, offset }) => ({ partition, offset })),
    })
    discard()
  }
  const reset = async () => {
    await request('DELETE', `${path}/offsets`)
    discard()
  }
  const hasErrors = Object.keys(preview.errors).length > 0
  return html`<section aria-labelledby="offsets">
    <h2 id="offsets">Offsets</h2>
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    ${data.value === undefined && !error.value && html`<p>Loading …</p>`}
    ${data.value?.offsets.length === 0 && html`<p>The connector has stored no offset yet.</p>`}
    ${may('offsets') && html`<${Condition} path=${path} name=${name} state=${state} declared=${declared} mayStop=${may('lifecycle')} />`}
    ${
      rows.length > 0 &&
      html`<div class="scrolled">
      <table class="offsets" aria-label=${`Offsets of ${name}`}>
        <thead><tr><th scope="col">Partition</th><th scope="col">Offset</th>${isEditable && html`<th scope="col">New offset; empty: deleted</th>`}</tr></thead>
        <tbody>${rows.map(
          (row) => html`<${Row} key=${row.key} row=${row} isEditable=${isEditable} edit=${edits[row.key]}
            isNamed=${named.includes(row)} error=${preview.errors[row.key]} onEdit=${(text: string) => setEdits({ ...edits, [row.key]: text })} />`,
        )}</tbody>
      </table>
    </div>`
    }
    ${isEditable && preview.changes.length > 0 && html`<h3>Preview</h3><${Consequences} preview=${preview} />`}
    ${
      isEditable &&
      html`<div class="buttons">
        <${ActionButton} isDangerous=${true} isDisabled=${hasErrors || preview.changes.length === 0} run=${alter}
          done=${sentence`Altered the offsets of ${name}`}
          question=${html`<p>Alter the offsets of <bdi>${name}</bdi>?</p><${Consequences} preview=${preview} />`}>Alter offsets<//>
        <${ActionButton} object="offsets" isDangerous=${true} isDisabled=${listing.offsets.length === 0} run=${reset} done=${sentence`Reset the offsets of ${name}`}
          question=${html`<p>Delete all offsets of <bdi>${name}</bdi>? They cannot be restored.</p><${Consequences} preview=${previewReset(rows)} />`}
          >Reset all<//>
      </div>
      <${OffsetPartition} isSink=${connector.type === 'sink'} topics=${topicsRead(connector)} onRow=${(row: OffsetRow) => setNamed([...named.filter(({ key }) => key !== row.key), row])} />`
    }
  </section>`
}

function topicsRead({ name, config, type }: Connector): readonly string[] {
  const uses = topicUses({ [name]: { info: { config, type } } })
  return uses.flatMap(({ topic, kind }) => (kind === 'reads' ? [topic] : []))
}

type ConditionProps = Omit<OffsetsProps, 'connector'> & { readonly name: string; readonly mayStop: boolean }

/** Why the offsets cannot be changed now, and what to do about it. */
function Condition({ path, name, state, declared, mayStop }: ConditionProps) {
  if (declared)
    return html`<p>The resource ${declared.namespace}/${declared.name} declares this connector: set <code>spec.offsets.operation</code> there. The operator then stops the connector, changes the offsets and starts it.</p>`
  if (state === 'STOPPED') return html`<p>The connector is stopped: its offsets can be changed.</p>`
  return html`<p>Offsets can be changed while the connector is stopped. ${
    mayStop &&
    html`<${ActionButton} run=${() => request('PUT', `${path}/stop`)} done=${sentence`Stopped ${name}`}
      question=${sentence`Stop ${name} to change its offsets? It processes no records until it is resumed.`}>Stop to change offsets<//>`
  }</p>`
}

type RowProps = {
  readonly row: OffsetRow
  readonly isEditable: boolean
  /** Somebody has just named it, in order to set its offset. */
  readonly isNamed: boolean
  readonly edit: string | undefined
  readonly error: string | undefined
  readonly onEdit: (text: string) => void
}

function Row({ row, isEditable, isNamed, edit, error, onEdit }: RowProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isNamed) input.current?.focus()
  }, [])
  return html`<tr>
    <th scope="row">${row.title}</th>
    <td data-title="Offset"><code>${row.text || 'none'}</code></td>
    ${
      isEditable &&
      html`<td data-title="New offset; empty: deleted"><input ref=${input} aria-label=${`New offset of ${row.title}`} aria-invalid=${error !== undefined} aria-describedby=${id} spellcheck="false"
          value=${edit ?? row.text} onInput=${valueInto(onEdit)} />
        ${error && html`<p id=${id} class="error">${error}</p>`}</td>`
    }
  </tr>`
}

function Consequences({ preview }: { readonly preview: OffsetPreview }) {
  return html`<div class="scrolled"><table class="offsets" aria-label="Consequences">
    <thead><tr><th scope="col">Partition</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Consequence</th></tr></thead>
    <tbody>${preview.changes.map(
      ({
        title,
        from,
        to,
        effect,
      }) => html`<tr key=${title}><th scope="row">${title}</th><td data-title="From"><code>${from}</code></td>
        <td data-title="To"><code>${to}</code></td><td data-title="Consequence">${effect}</td></tr>`,
    )}</tbody>
  </table></div>`
}
