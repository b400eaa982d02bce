import { useEffect, useRef, useState } from 'preact/hooks'
import type { Tone } from '../../../common/state-glossary.ts'
import { RequestFailure, send } from '../api.ts'
import { html } from '../html.ts'
import { pathSegment } from '../path-segment.ts'
import {
  failureConsequence,
  outcomeOf,
  type PreviewedRecord,
  type PreviewOutcome,
  type PreviewReport,
  pluginRecordText,
  storedText,
  summaryText,
} from '../record-preview.ts'
import { recordKey, timeText } from '../records.ts'
import type { ConnectorConfig } from '../wire.ts'
import { TextDiff } from './schema-diff.ts'
import { StateBadge } from './state-badge.ts'

export type RecordPreviewProps = {
  readonly basePath: string
  readonly name: string
  readonly config: ConnectorConfig
  /** Of the heading. */
  readonly level: '2' | '3'
}

type Shown = { readonly text: string; readonly report?: PreviewReport; readonly error?: string }

/**
 * What the configuration that is being edited makes of the last records. They are read when they are asked for, because each reading is
 * recorded in the audit log.
 */
export function RecordPreview({ basePath, name, config, level }: RecordPreviewProps) {
  const [shown, setShown] = useState<Shown>()
  const [reading, setReading] = useState<AbortController>()
  const last = useRef<AbortController>(undefined)
  useEffect(() => () => last.current?.abort(), [])
  const text = JSON.stringify(config)
  const run = async () => {
    if (reading !== undefined) return
    const controller = new AbortController()
    last.current = controller
    setReading(controller)
    try {
      const path = `${basePath}/ui/api/connectors/${pathSegment(name)}/preview`
      const response = await send('POST', path, { body: { config }, signal: controller.signal })
      setShown({ text, report: (await response.json()) as PreviewReport })
    } catch (error) {
      if (controller.signal.aborted) return
      setShown({ text, error: reasonOf(error) })
    }
    setReading(undefined)
  }
  const Heading = `h${level}`
  const { report, error } = shown ?? {}
  return html`<section class="preview" aria-labelledby="preview">
    <${Heading} id="preview">Preview of records<//>
    <p class="documentation">What converters and transformations make of the last ten records, before anything is saved. Nothing is written.</p>
    <div class="buttons">
      <button type="button" aria-disabled=${reading !== undefined} onClick=${() => void run()}>Preview records</button>
      <span role="status">${
        reading
          ? 'Reading …'
          : shown === undefined || error
            ? ''
            : `${report ? summaryText(report) : ''}${shown.text === text ? '' : ' The configuration has changed since.'}`
      }</span>
    </div>
    ${error && html`<p class="error trace" role="alert">${error}</p>`}
    ${report?.notes.map((note) => html`<p key=${note}>${note}</p>`)}
    ${
      report &&
      report.records.length > 0 &&
      html`<ul class="dead-letters">${report.records.map(
        (record) => html`<${Record} key=${nameOf(record)} record=${record} config=${config} />`,
      )}</ul>`
    }
  </section>`
}

function reasonOf(error: unknown): string {
  if (error instanceof RequestFailure && error.status === 404) return 'This runtime has no preview of records.'
  return error instanceof Error ? error.message : String(error)
}

function nameOf({ topic, stored }: PreviewedRecord): string {
  return `${topic} ${recordKey(stored)}`
}

const TONES: Readonly<Record<PreviewOutcome, Tone>> = {
  passes: 'good',
  'is dropped': 'idle',
  fails: 'bad',
  'is not processed': 'waiting',
}

function Record({ record, config }: { readonly record: PreviewedRecord; readonly config: ConnectorConfig }) {
  const { stored, read, result, failure, problem } = record
  const name = nameOf(record)
  const outcome = outcomeOf(record)
  const before = read === null ? storedText(stored) : pluginRecordText(read)
  return html`<li>
    <div class="dead-letter">
      <strong>${name}</strong>
      <time>${timeText(stored.timestampMs)}</time>
      <${StateBadge} state=${outcome} tone=${TONES[outcome]} />
    </div>
    ${
      failure &&
      html`<p class="error">${failure.exceptionClass && `${failure.exceptionClass}: `}${failure.message}</p>
      <p class="reason">It fails in ${failure.stage} of ${failure.className}. ${failureConsequence(config)}</p>`
    }
    ${problem && html`<p class="reason">It does not pass the plugins here: ${problem}.</p>`}
    ${
      read !== null && result !== null
        ? html`<${TextDiff} of=${name} left=${{ title: 'As the converters read it', text: before }}
            right=${{ title: 'After the transformations', text: pluginRecordText(result) }} />`
        : html`<pre tabindex="0" role="region" aria-label=${`Record ${name}`}>${before}</pre>`
    }
  </li>`
}
