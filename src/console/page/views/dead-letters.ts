import { useState } from 'preact/hooks'
import { request } from '../api.ts'
import { ActionButton } from '../components/action-button.ts'
import { DeadLetterEditor } from '../components/dead-letter-editor.ts'
import { valueInto } from '../components/log-in.ts'
import { sentence } from '../components/sentence.ts'
import { StateBadge } from '../components/state-badge.ts'
import {
  countOf,
  type DeadLetterListing,
  type DeadLetterPayload,
  type DeadLetterRow,
  editableText,
  listingPath,
  olderFilters,
  originText,
  replayConsequences,
  replayTarget,
  rowKey,
} from '../dead-letters.ts'
import { html } from '../html.ts'
import { hrefOf, pageLocation, setFilter } from '../location.ts'
import { pathSegment } from '../path-segment.ts'
import { useOnDemandQuery } from '../queries.ts'
import { useRights } from '../session.ts'

type DeadLettersProps = { readonly basePath: string; readonly name: string; readonly topic: string }

/** The dead letters of a sink. They are read when they are asked for, because each reading is recorded in the audit log. */
export function DeadLettersView(props: DeadLettersProps) {
  const may = useRights('connectors', props.name)
  return html`<section aria-labelledby="dead-letters">
    <h2 id="dead-letters">Dead letters <small>in the topic ${props.topic}</small></h2>
    ${may('write') ? html`<${Records} ...${props} />` : html`<p>Records are shown to users with the permission <code>write</code> on this connector.</p>`}
  </section>`
}

function Records({ basePath, name, topic }: DeadLettersProps) {
  const path = `${basePath}/ui/api/connectors/${pathSegment(name)}/dead-letters`
  const { filters, path: page } = pageLocation.value
  const query = useOnDemandQuery<DeadLetterListing>(listingPath(path, filters))
  const { data, error } = query
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [target, setTarget] = useState('')
  if (error.value?.status === 404)
    return html`<p>This runtime does not show records. <code>weir dlq show ${topic}</code> does.</p>`
  const listing = data.value
  const rows = listing?.records ?? []
  const chosen = rows.filter((row) => selected.has(rowKey(row)) && replayTarget(row, target) !== null)
  const older = listing && olderFilters(listing)
  const select = (row: DeadLetterRow) => (event: Event) => {
    const keys = new Set(selected)
    if ((event.currentTarget as HTMLInputElement).checked) keys.add(rowKey(row))
    else keys.delete(rowKey(row))
    setSelected(keys)
  }
  const replay = async () => {
    const records = chosen.map(({ partition, offset }) => ({ partition, offset }))
    await request('POST', `${path}/replay`, { records, ...(target !== '' && { topic: target }) })
    setSelected(new Set())
  }
  return html`
    <${Filters} listing=${listing} rows=${rows} refresh=${() => query.refresh()} />
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    ${listing === undefined && !error.value && html`<p>Loading …</p>`}
    ${listing && rows.length === 0 && html`<p>${emptyText(listing, filters)}</p>`}
    ${listing && listing.ofOthers > 0 && html`<p>${countOf(listing.ofOthers, 'record')} of other connectors in this topic ${listing.ofOthers === 1 ? 'is' : 'are'} not shown.</p>`}
    ${listing?.marksProblem && html`<p>It is not known which records were replayed: ${listing.marksProblem}</p>`}
    ${
      rows.some((row) => row.origin.topic === null && row.target === null) &&
      html`<label>Topic for records that do not name theirs
        <input value=${target} spellcheck="false" onInput=${valueInto(setTarget)} /></label>`
    }
    <ul class="dead-letters">${rows.map(
      (row) => html`<${Record} key=${rowKey(row)} row=${row} path=${path} target=${target}
        isSelected=${selected.has(rowKey(row))} onSelect=${select(row)} />`,
    )}</ul>
    ${
      rows.length > 0 &&
      html`<div class="buttons">
      <${ActionButton} isDisabled=${chosen.length === 0} run=${replay} done=${sentence`Replayed ${countOf(chosen.length, 'record')}`}
        question=${html`<p>Replay ${countOf(chosen.length, 'record')}?</p>${replayConsequences(chosen, target).map((one) => html`<p>${one}</p>`)}`}
        >Replay selected (${chosen.length})<//>
      ${older && html`<a href=${hrefOf(page, { ...filters, ...older })}>Older<span class="hidden"> dead letters</span></a>`}
      ${filters['before'] && html`<a href=${hrefOf(page, { ...filters, before: '' })}>Newest<span class="hidden"> dead letters</span></a>`}
    </div>`
    }
    ${rows.length === 0 && older && html`<a href=${hrefOf(page, { ...filters, ...older })}>Older<span class="hidden"> dead letters</span></a>`}`
}

function emptyText({ exists }: DeadLetterListing, filters: Readonly<Record<string, string>>): string {
  if (!exists) return 'The topic does not exist: the worker creates it when the sink starts.'
  return filters['error'] || filters['before'] ? 'No record matches here.' : 'No record of this connector has failed.'
}

type FiltersProps = {
  readonly listing: DeadLetterListing | undefined
  readonly rows: readonly DeadLetterRow[]
  readonly refresh: () => Promise<void>
}

function Filters({ listing, rows, refresh }: FiltersProps) {
  const { filters } = pageLocation.value
  const classes = new Set(rows.flatMap(({ exceptionClass }) => exceptionClass ?? []))
  if (filters['error']) classes.add(filters['error'])
  const partitions = Array.from({ length: Math.min(listing?.partitionCount ?? 0, 1_000) }, (_, partition) =>
    String(partition),
  )
  const choose = (name: string) =>
    valueInto((value) => {
      setFilter('before', '')
      setFilter(name, value)
    })
  return html`<form class="filters dead-letter-filters" role="search" aria-label="Dead letters" onSubmit=${(event: Event) => event.preventDefault()}>
    <label>Error class <select value=${filters['error'] ?? ''} onChange=${choose('error')}>
      <option value="">all</option>
      ${[...classes].sort().map((name) => html`<option value=${name}>${name}</option>`)}
    </select></label>
    ${
      partitions.length > 1 &&
      html`<label>Partition <select value=${filters['partition'] ?? ''} onChange=${choose('partition')}>
      <option value="">all</option>
      ${partitions.map((partition) => html`<option value=${partition}>${partition}</option>`)}
    </select></label>`
    }
    <button type="button" onClick=${() => void refresh()}>Read again</button>
    <span role="status">${listing && `${countOf(rows.length, 'record')}, the newest first`}</span>
  </form>`
}

type RecordProps = {
  readonly row: DeadLetterRow
  readonly path: string
  readonly target: string
  readonly isSelected: boolean
  readonly onSelect: (event: Event) => void
}

function Record({ row, path, target, isSelected, onSelect }: RecordProps) {
  const [isEditing, setEditing] = useState(false)
  const { stage, className, exceptionClass, message, stackTrace, headers, moreHeaders, replayed, problem } = row
  const canReplay = replayTarget(row, target) !== null
  const key = rowKey(row)
  return html`<li>
    <div class="dead-letter">
      <label class="check"><input type="checkbox" checked=${isSelected} disabled=${!canReplay} onChange=${onSelect} />
        Record ${key}</label>
      <time>${new Date(row.timestampMs).toISOString()}</time>
      ${exceptionClass && html`<strong class="bad">${exceptionClass}</strong>`}
      ${replayed && html`<${StateBadge} state="REPLAYED">${replayed === 'console' ? 'replayed' : 'replayed by weir dlq'}<//>`}
      ${canReplay && html`<button aria-expanded=${isEditing} onClick=${() => setEditing(!isEditing)}>${isEditing ? 'Close' : 'Correct or replay'}<span class="hidden"> ${key}</span></button>`}
    </div>
    ${message && html`<p class="error">${message}</p>`}
    <p class="reason">From ${originText(row)}${stage && `; failed in ${stage}`}${className && ` of ${className}`}</p>
    ${!canReplay && problem && html`<p>It cannot be replayed: ${problem}.</p>`}
    ${
      isEditing
        ? html`<${DeadLetterEditor} path=${path} row=${row} target=${target} onDone=${() => setEditing(false)} />`
        : html`<${Payload} of=${key} title="Key" payload=${row.key} /><${Payload} of=${key} title="Value" payload=${row.value} />`
    }
    ${
      headers.length > 0 &&
      html`<details><summary>${countOf(headers.length + moreHeaders, 'header')}<span class="hidden"> of record ${key}</span></summary>
        <dl class="headers">${headers.map(({ name, value }) => html`<dt>${name}</dt><dd><code>${value ?? 'null'}</code></dd>`)}</dl>
        ${moreHeaders > 0 && html`<p>and ${moreHeaders} more</p>`}
      </details>`
    }
    ${
      stackTrace &&
      html`<details><summary>Stack trace<span class="hidden"> of record ${key}</span></summary>
      <pre tabindex="0" role="group" aria-label=${`Stack trace of record ${key}`}>${stackTrace}</pre></details>`
    }
  </li>`
}

type PayloadProps = { readonly of: string; readonly title: string; readonly payload: DeadLetterPayload }

function Payload({ of, title, payload }: PayloadProps) {
  const { form, bytes, isTruncated, problem } = payload
  if (form === 'null') return html`<p>${title}: <code>null</code></p>`
  return html`<h3>${title} <small>${form === 'json' ? 'data' : form === 'hex' ? 'hexadecimal' : 'text'}, ${countOf(bytes, 'byte')}${isTruncated && ', the beginning'}</small></h3>
    <pre tabindex="0" role="region" aria-label=${`${title} of record ${of}`}>${isTruncated ? payload.text : editableText(payload)}</pre>
    ${problem && html`<p class="reason">The converter: ${problem}</p>`}`
}
