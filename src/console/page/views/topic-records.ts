import { useEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../../../common/counted.ts'
import { valueInto } from '../components/log-in.ts'
import { notify } from '../components/notices.ts'
import { VirtualTable } from '../components/virtual-table.ts'
import { indentJson } from '../dead-letters.ts'
import { html } from '../html.ts'
import { hrefOf, pageLocation, setFilter } from '../location.ts'
import { useOnDemandQuery } from '../queries.ts'
import { type RecordReading, useRecords } from '../record-reading.ts'
import {
  cellText,
  RECORDS_MAX,
  type RecordRow,
  type RecordText,
  recordJson,
  recordKey,
  recordQuery,
  stopText,
  timeText,
} from '../records.ts'
import { type Runtime, useSession } from '../session.ts'
import type { TopicInfo } from '../topics.ts'

type RecordsProps = {
  /** The path of the topic in the REST API. */
  readonly path: string
  readonly topic: TopicInfo
  readonly runtime: Runtime
  readonly mayRead: boolean
}

/** The records of a topic. Each reading is in the audit log, so nothing is read again without being asked for. */
export function TopicRecordsView(props: RecordsProps) {
  const { topic, mayRead } = props
  return html`<section aria-labelledby="records">
    <h2 id="records">Records</h2>
    ${
      topic.isInternal
        ? html`<p>A program uses this topic for itself, so its records are not shown.</p>`
        : mayRead
          ? html`<${Reading} ...${props} />`
          : html`<p>Records are shown to users with the permission <code>read</code> on this topic.</p>`
    }
  </section>`
}

function Reading({ path, topic, runtime }: RecordsProps) {
  const { filters } = pageLocation.value
  const query = recordQuery(filters)
  const follows = filters['follow'] === 'true' && query.from === 'end'
  const reading = useRecords(path, query, follows)
  const { rows, page, error, isReading } = reading
  const open = filters['record'] ?? ''
  return html`
    <${Selection} key=${`${filters['from']} ${filters['at']} ${filters['search']}`} topic=${topic} isNewest=${query.from === 'end'} follows=${follows} />
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    <p role="status" aria-live=${follows ? 'off' : undefined} class="reading">${statusText(reading)} ${page.value && stopText(page.value)}</p>
    <div class="actions" role="group" aria-label="Records that are shown">
      ${
        page.value?.hasMore &&
        rows.value.length < RECORDS_MAX &&
        html`<button type="button" aria-disabled=${isReading.value} onClick=${() => void reading.more()}>${query.from === 'end' ? 'Continue with older records' : 'Continue'}</button>`
      }
      ${rows.value.length > 0 && html`<${Download} reading=${reading} name=${topic.name} />`}
    </div>
    <div class=${open === '' ? undefined : 'with-record'}>
    <${VirtualTable}
      label="Records"
      rows=${rows.value}
      keyOf=${recordKey}
      empty=${isReading.value ? 'Reading …' : 'No record was found.'}
      columns=${[
        {
          title: 'Record',
          width: 1.2,
          narrowPx: 84,
          cell: (row: RecordRow) => html`<button class="link" aria-label=${`Show record ${recordKey(row)}`}
            onClick=${() => setFilter('record', recordKey(row))}>${recordKey(row)}</button>`,
        },
        { title: 'Value', width: 5, cell: ({ value }: RecordRow) => html`<code>${cellText(value)}</code>` },
        { title: 'Key', width: 2, cell: ({ key }: RecordRow) => html`<code>${cellText(key)}</code>` },
        // Beside an open record, there is no space for a whole time.
        ...(open === ''
          ? [{ title: 'Time', width: 2.8, cell: ({ timestampMs }: RecordRow) => timeText(timestampMs) }]
          : []),
      ]}
    />
    ${open !== '' && html`<${OpenRecord} key=${open} path=${path} position=${open} runtime=${runtime} />`}
    </div>
  `
}

function statusText({ rows, page, scanned, isReading }: RecordReading): string {
  if (page.value === undefined) return isReading.value ? 'Reading …' : ''
  const { partitions, partitionCount } = page.value
  const part =
    partitions.length < partitionCount && partitionCount > 1 && partitions.length > 1
      ? ` Of ${counted(partitionCount, 'partition')}, the first ${partitions.length} are read.`
      : ''
  return `${counted(rows.value.length, 'record')} shown, ${scanned.value.toLocaleString('en')} read.${part}`
}

type SelectionProps = { readonly topic: TopicInfo; readonly isNewest: boolean; readonly follows: boolean }

/** What is read is chosen with a button, because a search can be long. */
function Selection({ topic, isNewest, follows }: SelectionProps) {
  const { filters } = pageLocation.value
  const [from, setFrom] = useState(filters['from'] ?? 'end')
  const [at, setAt] = useState(filters['at'] ?? '')
  const [partition, setPartition] = useState(filters['partition'] ?? '')
  const [search, setSearch] = useState(filters['search'] ?? '')
  const submit = (event: Event) => {
    event.preventDefault()
    const { path } = pageLocation.value
    const chosen = { ...filters, from: from === 'end' ? '' : from, at: from === 'offset' || from === 'time' ? at : '' }
    location.hash = hrefOf(path, {
      ...chosen,
      partition,
      search,
      record: '',
      follow: from === 'end' ? (filters['follow'] ?? '') : '',
    })
  }
  return html`<form class="filters" role="search" aria-label="Records" onSubmit=${submit}>
    <label>From
      <select value=${from} onChange=${valueInto(setFrom)}>
        <option value="end">the newest</option><option value="beginning">the oldest</option>
        <option value="offset">an offset</option><option value="time">a time</option>
      </select></label>
    ${from === 'offset' && html`<label>Offset <input required inputmode="numeric" pattern="[0-9]{1,16}" value=${at} onInput=${valueInto(setAt)} /></label>`}
    ${from === 'time' && html`<label>Time <input required type="datetime-local" step="1" value=${at} onInput=${valueInto(setAt)} /></label>`}
    <label>Partition
      <select value=${partition} onChange=${valueInto(setPartition)}>
        <option value="">all</option>
        ${topic.partitions.map(({ partition: one }) => html`<option key=${one} value=${String(one)}>${one}</option>`)}
      </select></label>
    <label>Text <input type="search" maxlength="1000" value=${search} onInput=${valueInto(setSearch)} /></label>
    <button>Read</button>
    ${
      isNewest &&
      html`<label class="check"><input type="checkbox" checked=${follows}
        onChange=${() => setFilter('follow', follows ? '' : 'true')} /> Follow</label>`
    }
  </form>`
}

function Download({ reading, name }: { readonly reading: RecordReading; readonly name: string }) {
  const [isBusy, setBusy] = useState(false)
  const download = async () => {
    if (isBusy) return
    setBusy(true)
    try {
      const url = URL.createObjectURL(await reading.lines())
      const link = document.createElement('a')
      link.href = url
      link.download = `${name}.jsonl`
      link.click()
      URL.revokeObjectURL(url)
    } catch (error) {
      notify(error instanceof Error ? error.message : String(error))
    }
    setBusy(false)
  }
  return html`<button type="button" aria-disabled=${isBusy} onClick=${() => void download()}>Download as JSON lines</button>`
}

type OpenRecordProps = { readonly path: string; readonly position: string; readonly runtime: Runtime }

/** One record as a whole, beside the list. */
function OpenRecord({ path, position, runtime }: OpenRecordProps) {
  const [partition = '', offset = ''] = position.split('/')
  const { data, error } = useOnDemandQuery<RecordRow>(
    `${path}/records/${encodeURIComponent(partition)}/${encodeURIComponent(offset)}`,
  )
  const row = data.value
  const heading = useRef<HTMLHeadingElement>(null)
  // Whoever has pressed the button of a record continues to read there.
  useEffect(() => {
    if (document.activeElement?.tagName === 'BUTTON') heading.current?.focus()
  }, [])
  return html`<article class="record" aria-labelledby="record">
    <h3 id="record" tabindex="-1" ref=${heading}>Record ${position}</h3>
    <div class="actions">
      ${row && html`<${CopyRecord} row=${row} />`}
      <button type="button" aria-label=${`Close record ${position}`} onClick=${() => setFilter('record', '')}>Close</button>
    </div>
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    ${row === undefined && !error.value && html`<p>Reading …</p>`}
    ${
      row &&
      html`<p>${timeText(row.timestampMs)}</p>
      <${Payload} title="Key" payload=${row.key} runtime=${runtime} />
      <${Payload} title="Value" payload=${row.value} runtime=${runtime} />
      <h4>Headers</h4>
      ${row.headers.length === 0 && html`<p>There are none.</p>`}
      <dl class="config">${row.headers.map(
        ({ name, value }, at) =>
          html`<dt key=${`${at} name`}>${name}</dt><dd key=${String(at)}><code>${cellText(value)}</code></dd>`,
      )}</dl>
      ${row.moreHeaders > 0 && html`<p>${counted(row.moreHeaders, 'header')} more.</p>`}`
    }
  </article>`
}

function CopyRecord({ row }: { readonly row: RecordRow }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(recordJson(row))
      notify('Copied the record.')
    } catch {
      // Without TLS, browsers give pages of other hosts no clipboard.
      notify('The browser gives no access to the clipboard: select the text.')
    }
  }
  return html`<button type="button" onClick=${() => void copy()}>Copy as JSON</button>`
}

type PayloadProps = { readonly title: string; readonly payload: RecordText; readonly runtime: Runtime }

const FORMS: Readonly<Record<RecordText['form'], string>> = {
  null: 'null',
  json: 'data',
  text: 'text',
  hex: 'hexadecimal',
  withheld: 'withheld',
}

function Payload({ title, payload, runtime }: PayloadProps) {
  const { form, text, bytes, isTruncated, schema, masked, problem } = payload
  return html`<h4>${title} <small>${FORMS[form]}, ${counted(bytes, 'byte')}${isTruncated && ', the beginning'}</small></h4>
    ${schema && html`<p><${SchemaLink} schema=${schema} runtime=${runtime} /></p>`}
    ${masked.length > 0 && html`<p class="reason">Masked because of their tags: ${masked.join(', ')}.</p>`}
    ${problem && html`<p class="reason">Not decoded: ${problem}.</p>`}
    ${
      form !== 'null' &&
      form !== 'withheld' &&
      html`<pre tabindex="0" role="region" aria-label=${title}>${form === 'json' && !isTruncated ? indentJson(text) : text}</pre>`
    }`
}

function SchemaLink({
  schema,
  runtime,
}: {
  readonly schema: NonNullable<RecordText['schema']>
  readonly runtime: Runtime
}) {
  const registry = useSession().data.value?.runtimes.find(({ kind }) => kind === 'registry')
  const { id, type, subject, version } = schema
  const name = subject === undefined ? `schema ${id}` : `${subject}, version ${version}, id ${id}`
  if (subject === undefined || registry === undefined) return html`${type}, ${name}`
  return html`${type}, <a href=${hrefOf(['subjects', subject], { runtime: registry.name === runtime.name ? '' : registry.name })}>${name}</a>`
}
