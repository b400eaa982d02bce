import { useEffect, useRef, useState } from 'preact/hooks'
import { RequestFailure, request } from '../api.ts'
import { ActionButton } from '../components/action-button.ts'
import { valueInto } from '../components/log-in.ts'
import { sentence } from '../components/sentence.ts'
import { html } from '../html.ts'
import { hrefOf } from '../location.ts'
import { subjectSegment } from '../path-segment.ts'
import { locateMessages, type SchemaMessage } from '../schema-messages.ts'
import { type Runtime, useRights } from '../session.ts'
import { parseReferences, readableSchema, registrationOf, versionPath } from '../subject-versions.ts'
import type { ReferenceEntry, RegisteredVersion } from '../wire.ts'

type Draft = { readonly text: string; readonly schemaType: string; readonly references: string }
type Verdict = {
  readonly title: string
  readonly tone: 'good' | 'bad' | 'waiting'
  readonly messages: readonly SchemaMessage[]
}

const SCHEMA_TYPES = ['AVRO', 'JSON', 'PROTOBUF']
/** A request is sent when nothing was typed for so long. */
const TYPING_MS = 400
/** Drafts by subject, so that they survive a look at other views. They are lost with the page. */
const drafts = new Map<string, Draft>()

export type SchemaDraftProps = {
  readonly runtime: Runtime
  readonly subject: string
  /** The version that the draft begins with; undefined for a new subject. */
  readonly latest: number | undefined
}

/** A schema that is checked while it is typed, and then registered. */
export function SchemaDraft({ runtime, subject, latest }: SchemaDraftProps) {
  const key = `${runtime.basePath} ${subject}`
  const [draft, setDraft] = useState<Draft>(drafts.get(key) ?? { text: '', schemaType: 'AVRO', references: '' })
  const change = (part: Partial<Draft>) => {
    const next = { ...draft, ...part }
    drafts.set(key, next)
    setDraft(next)
  }
  const may = useRights('subjects', subject)
  useEffect(() => {
    if (latest === undefined || drafts.has(key)) return
    const path = `${versionPath(runtime.basePath, { subject, version: latest })}?deleted=true`
    request<RegisteredVersion>('GET', path).then(
      (version) => !drafts.has(key) && setDraft(draftOf(version)),
      // The draft begins empty, and the check reports what is wrong.
      () => undefined,
    )
  }, [key, latest])
  const references = parseReferences(draft.references)
  const verdict = useVerdict(runtime, subject, draft, references)
  const path = `${runtime.basePath}/subjects/${subjectSegment(subject)}/versions`
  const register = async () => {
    await request('POST', path, bodyOf(draft, references ?? []))
    drafts.delete(key)
    location.hash = hrefOf(['subjects', subject], { runtime: runtime.name })
  }
  return html`
    <p><a href=${hrefOf(['subjects', subject], { runtime: runtime.name })}>${subject}</a></p>
    <h1>Register a schema of ${subject}</h1>
    ${latest === undefined && html`<p>The subject is created with its first version.</p>`}
    <div class="filters">
      <label>Schema type
        <select value=${draft.schemaType} onChange=${valueInto((schemaType) => change({ schemaType }))}>
          ${SCHEMA_TYPES.map((type) => html`<option key=${type} value=${type}>${type}</option>`)}
        </select>
      </label>
    </div>
    <div class="draft">
      <${Editor} text=${draft.text} isInvalid=${verdict.tone === 'bad'} messages=${verdict.messages} onText=${(text: string) => change({ text })} />
      <div id="verdict" class="verdict" role="status">
        <h2 class=${verdict.tone}>${verdict.title}</h2>
        <ul>${verdict.messages.map(
          ({ text, line }) =>
            html`<li key=${text}>${line !== undefined && html`<strong>Line ${line}: </strong>`}${text}</li>`,
        )}</ul>
      </div>
    </div>
    <label class="references-of-draft">References, one per line: name subject version
      <textarea rows="3" spellcheck=${false} aria-invalid=${references === undefined} aria-describedby="verdict" value=${draft.references}
        onInput=${valueInto((value) => change({ references: value }))}></textarea>
    </label>
    <div class="actions buttons">
      <${ActionButton} isDisabled=${!may('write') || draft.text.trim() === '' || references === undefined} run=${register}
        done=${sentence`Registered the schema of ${subject}`}>Register<//>
    </div>
    ${!may('write') && html`<p>You may not register schemas of this subject.</p>`}
  `
}

function draftOf({ schema, schemaType = 'AVRO', references = [] }: RegisteredVersion): Draft {
  return {
    text: readableSchema(schema),
    schemaType,
    references: references.map(({ name, subject, version }) => `${name} ${subject} ${version}`).join('\n'),
  }
}

function bodyOf({ text, schemaType }: Draft, references: readonly ReferenceEntry[]): object {
  return registrationOf({ schema: text, schemaType, references })
}

/** Asks the registry after each pause of typing. An answer for an earlier text is ignored. */
function useVerdict(
  runtime: Runtime,
  subject: string,
  draft: Draft,
  references: readonly ReferenceEntry[] | undefined,
): Verdict {
  const [verdict, setVerdict] = useState<Verdict>({ title: 'Nothing is checked yet', tone: 'waiting', messages: [] })
  useEffect(() => {
    let isCurrent = true
    const timer = setTimeout(() => {
      if (draft.text.trim() === '') return setVerdict({ title: 'The draft is empty', tone: 'waiting', messages: [] })
      if (references === undefined) {
        return setVerdict({ title: 'A reference is not: name subject version', tone: 'bad', messages: [] })
      }
      void check(runtime, subject, draft, references).then((found) => isCurrent && setVerdict(found))
    }, TYPING_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [runtime.basePath, subject, draft.text, draft.schemaType, draft.references])
  return verdict
}

type CompatibilityAnswer = { readonly is_compatible: boolean; readonly messages?: readonly string[] }

async function check(
  { basePath }: Runtime,
  subject: string,
  draft: Draft,
  references: readonly ReferenceEntry[],
): Promise<Verdict> {
  const path = `${basePath}/compatibility/subjects/${subjectSegment(subject)}/versions?verbose=true`
  const located = (messages: readonly string[]) => locateMessages(messages, draft.text, draft.schemaType)
  try {
    const { is_compatible: isCompatible, messages = [] } = await request<CompatibilityAnswer>(
      'POST',
      path,
      bodyOf(draft, references),
    )
    if (isCompatible) return { title: 'Compatible', tone: 'good', messages: [] }
    return { title: 'Not compatible, or not valid', tone: 'bad', messages: located(messages) }
  } catch (error) {
    const { status, message } = error instanceof RequestFailure ? error : { status: 0, message: String(error) }
    if (status === 422) return { title: 'Not valid', tone: 'bad', messages: located([message]) }
    return { title: 'Not checked', tone: 'waiting', messages: [{ text: message }] }
  }
}

type EditorProps = {
  readonly text: string
  readonly isInvalid: boolean
  readonly messages: readonly SchemaMessage[]
  readonly onText: (text: string) => void
}

/** A text field with line numbers, which scroll with it and mark the lines of messages. */
function Editor({ text, isInvalid, messages, onText }: EditorProps) {
  const numbers = useRef<HTMLPreElement>(null)
  const marked = new Set(messages.flatMap(({ line }) => line ?? []))
  const scroll = ({ currentTarget }: Event) => {
    if (numbers.current) numbers.current.scrollTop = (currentTarget as HTMLTextAreaElement).scrollTop
  }
  return html`<div class="editor">
    <pre ref=${numbers} aria-hidden="true">${text
      .split('\n')
      .map(
        (_, at) =>
          html`<span key=${at} class=${marked.has(at + 1) ? 'marked' : ''}>${marked.has(at + 1) ? '● ' : ''}${at + 1}</span>`,
      )}</pre>
    <textarea aria-label="Schema" aria-invalid=${isInvalid} aria-describedby="verdict" rows="24" wrap="off" spellcheck=${false} value=${text} onInput=${valueInto(onText)}
      onScroll=${scroll}></textarea>
  </div>`
}
