import { useId, useState } from 'preact/hooks'
import { counted } from '../../../common/counted.ts'
import { html } from '../html.ts'
import { setFilter } from '../location.ts'
import type { VersionState } from '../subject-versions.ts'
import { valueInto } from './log-in.ts'

/** Of more versions, the number is typed: a list would slow the page down, and nobody would find one in it. */
const LISTED_MAX = 500

type VersionChoiceProps = {
  readonly versions: readonly VersionState[]
  readonly selected: number
  readonly compared: number
}

/** Which version of a subject is shown, and with which one it is compared. */
export function VersionChoice({ versions, selected, compared }: VersionChoiceProps) {
  const at = versions.findIndex(({ version }) => version === selected)
  const deleted = versions.filter(({ isDeleted }) => isDeleted).length
  const step = (title: string, to: VersionState | undefined) =>
    html`<button disabled=${to === undefined} aria-label=${`${title} version`} onClick=${() => to && setFilter('version', String(to.version))}>${title}</button>`
  const previous = versions[at - 1]
  return html`<div class="filters" role="group" aria-label="Versions">
    <${VersionField} title="Version" versions=${versions} value=${String(selected)}
      onChoose=${(value: string) => setFilter('version', value)} />
    ${step('Older', previous)} ${step('Newer', versions[at + 1])}
    <${VersionField} title="Compare with" versions=${versions} value=${compared > 0 ? String(compared) : ''}
      isOptional=${true} onChoose=${(value: string) => setFilter('compare', value)} />
    ${
      previous &&
      compared !== previous.version &&
      html`<button onClick=${() => setFilter('compare', String(previous.version))}>Compare with the previous</button>`
    }
    ${compared > 0 && html`<button onClick=${() => setFilter('compare', '')}>End the comparison</button>`}
    <span role="status">${counted(versions.length, 'version')}${deleted > 0 ? `, ${deleted} of them deleted` : ''}</span>
  </div>`
}

type VersionFieldProps = {
  readonly title: string
  readonly versions: readonly VersionState[]
  /** A version, or empty for none. */
  readonly value: string
  readonly isOptional?: boolean
  readonly onChoose: (value: string) => void
}

function VersionField({ title, versions, value, isOptional = false, onChoose }: VersionFieldProps) {
  const [draft, setDraft] = useState<string>()
  const [missing, setMissing] = useState('')
  const error = useId()
  if (versions.length <= LISTED_MAX) {
    return html`<label>${title}
      <select value=${value} onChange=${valueInto(onChoose)}>
        ${isOptional && html`<option value="">nothing</option>`}
        ${versions
          .toReversed()
          .map(
            ({ version, isDeleted }) =>
              html`<option key=${version} value=${String(version)}>${version}${isDeleted ? ' (deleted)' : ''}</option>`,
          )}
      </select>
    </label>`
  }
  const choose = (text: string) => {
    const typed = text.trim()
    const isKnown = typed === '' ? isOptional : versions.some(({ version }) => String(version) === typed)
    setMissing(isKnown ? '' : `There is no version '${typed}'.`)
    if (!isKnown) return
    setDraft(undefined)
    onChoose(typed)
  }
  return html`<label>${title}
      <input inputmode="numeric" size="8" value=${draft ?? value} placeholder=${isOptional ? 'nothing' : undefined}
        aria-invalid=${missing !== ''} aria-describedby=${error} onInput=${valueInto(setDraft)} onChange=${valueInto(choose)} />
    </label>
    ${missing && html`<span id=${error} class="error" role="alert">${missing}</span>`}`
}
