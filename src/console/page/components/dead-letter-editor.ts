import { useId, useState } from 'preact/hooks'
import { request } from '../api.ts'
import {
  correctionOf,
  type DeadLetterRow,
  editableText,
  editProblem,
  type PayloadDraft,
  replayConsequences,
  rowKey,
  wrongLine,
} from '../dead-letters.ts'
import { html } from '../html.ts'
import { useOnDemandQuery } from '../queries.ts'
import { ActionButton, REPORTED } from './action-button.ts'
import { valueInto } from './log-in.ts'
import { sentence } from './sentence.ts'

type EditorProps = {
  readonly path: string
  readonly row: DeadLetterRow
  /** Target topic of the replay; needed if the headers of the record do not name its original topic. */
  readonly target: string
  readonly onDone: () => void
}

/** Corrects the key and the value of one record, and replays it. The worker checks the correction with the converter. */
export function DeadLetterEditor({ path, row, target, onDone }: EditorProps) {
  const { data, error } = useOnDemandQuery<DeadLetterRow>(`${path}/${rowKey(row)}`)
  const [draft, setDraft] = useState<PayloadDraft>({})
  const [result, setResult] = useState<{ readonly text: string; readonly isError: boolean }>()
  const whole = data.value
  if (error.value) return html`<p class="error" role="alert">${error.value.message}</p>`
  if (whole === undefined) return html`<p>Loading …</p>`
  const correction = correctionOf(whole, draft)
  const post = (dryRun: boolean) =>
    request('POST', `${path}/replay`, { records: [correction], dryRun, ...(target !== '' && { topic: target }) })
  const check = async () => {
    try {
      await post(true)
      setResult({ text: 'The worker accepts it.', isError: false })
    } catch (failure) {
      setResult({ text: failure instanceof Error ? failure.message : String(failure), isError: true })
      throw failure
    }
  }
  const replay = async () => {
    await check()
    await post(false)
    onDone()
  }
  const edit = (role: 'key' | 'value') => (text: string) => {
    setDraft({ ...draft, [role]: text })
    setResult(undefined)
  }
  const corrected = (['key', 'value'] as const).filter((role) => role in correction)
  const object = `record ${rowKey(row)}`
  const drafts = Object.fromEntries(corrected.map((role) => [role, draft[role] ?? '']))
  return html`<div class="dead-letter-editor">
    ${(['key', 'value'] as const).map((role) => html`<${PayloadInput} key=${role} role=${role} row=${whole} text=${draft[role]} onText=${edit(role)} />`)}
    <p role="status" class=${result?.isError ? 'error' : ''}>${result?.text}</p>
    <div class="buttons">
      <${ActionButton} object=${object} run=${() => check().catch(() => REPORTED)} done=${sentence`Record ${rowKey(row)} can be replayed`}>Check<//>
      <${ActionButton} object=${object} run=${replay} done=${sentence`Replayed record ${rowKey(row)}`}
        question=${html`<p>Replay the record ${rowKey(row)}?</p>${replayConsequences([whole], target, drafts).map((one) => html`<p>${one}</p>`)}`}
        >${corrected.length > 0 ? 'Replay corrected' : 'Replay as it is'}<//>
    </div>
  </div>`
}

type InputProps = {
  readonly role: 'key' | 'value'
  readonly row: DeadLetterRow
  readonly text: string | undefined
  readonly onText: (text: string) => void
}

const FORMS = { json: 'data as JSON', text: 'text', hex: 'bytes in hexadecimal', null: 'null' }

function PayloadInput({ role, row, text, onText }: InputProps) {
  const id = useId()
  const payload = row[role]
  const problem = editProblem(payload)
  const title = `${role === 'key' ? 'Key' : 'Value'}, ${FORMS[payload.form]}`
  if (problem !== undefined) return html`<p>${title}: ${problem}</p>`
  const shown = text ?? editableText(payload)
  const line = text === undefined ? undefined : wrongLine(payload, text)
  return html`<label>${title}
      <textarea class="json" spellcheck="false" rows=${Math.min(20, shown.split('\n').length + 1)} value=${shown}
        aria-invalid=${line !== undefined} aria-describedby=${id} onInput=${valueInto(onText)}></textarea></label>
    ${line !== undefined && html`<p id=${id} class="error">Line ${line}: this is not JSON.</p>`}
    ${payload.problem && html`<p class="reason">The converter, of the original: ${payload.problem}</p>`}`
}
