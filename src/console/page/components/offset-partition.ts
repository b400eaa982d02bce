import { useState } from 'preact/hooks'
import { html } from '../html.ts'
import { type NamedPartition, type OffsetRow, partitionRow } from '../offset-preview.ts'
import { valueInto } from './log-in.ts'

type OffsetPartitionProps = {
  readonly isSink: boolean
  /** Suggested to a sink. */
  readonly topics: readonly string[]
  readonly onRow: (row: OffsetRow) => void
}

/** Names a partition without a committed offset, whose first offset is to be set. */
export function OffsetPartition({ isSink, topics, onRow }: OffsetPartitionProps) {
  const empty = isSink ? { topic: topics[0] ?? '', partition: '0' } : { source: '' }
  const [named, setNamed] = useState<NamedPartition>(empty)
  const [error, setError] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    const row = partitionRow(named)
    setError(typeof row === 'string' ? row : '')
    if (typeof row === 'string') return
    setNamed(empty)
    onRow(row)
  }
  const field = (key: string, title: string, suggestions?: string) =>
    html`<label>${title} <input required list=${suggestions} spellcheck="false" aria-describedby="partition-error"
      value=${(named as Readonly<Record<string, string>>)[key]}
      onInput=${valueInto((text) => setNamed({ ...named, [key]: text }))} /></label>`
  return html`<h3>A partition without an offset</h3>
    <form class="filters" aria-label="A partition without an offset" onSubmit=${submit}>
      ${
        isSink
          ? html`${field('topic', 'Topic', 'topics-read')}${field('partition', 'Partition')}
            <datalist id="topics-read">${topics.map((topic) => html`<option key=${topic} value=${topic}></option>`)}</datalist>`
          : field('source', 'Partition of the source as JSON')
      }
      <button>Set its first offset</button>
    </form>
    <p id="partition-error" class="error" role="alert">${error}</p>`
}
