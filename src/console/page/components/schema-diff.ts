import { useMemo, useState } from 'preact/hooks'
import { counted } from '../../../common/counted.ts'
import { type DiffPart, type DiffRow, diffLines, foldUnchanged } from '../../../common/line-diff.ts'
import { html } from '../html.ts'

export type SchemaDiffProps = {
  /** What differs, where several differences are shown. */
  readonly of?: string
  readonly left: { readonly title: string; readonly text: string }
  readonly right: { readonly title: string; readonly text: string }
}

const SIGNS: Readonly<Record<DiffRow['kind'], readonly [string, string]>> = {
  same: ['', ''],
  removed: ['−', ''],
  added: ['', '+'],
  changed: ['−', '+'],
}

/** Two texts side by side, and how many lines differ. */
export function SchemaDiff({ left, right }: SchemaDiffProps) {
  const rows = useMemo(() => diffLines(left.text, right.text), [left.text, right.text])
  const changes = rows.filter(({ kind }) => kind !== 'same').length
  return html`<p role="status">${changes === 0 ? 'The texts are equal.' : `${counted(changes, 'line')} ${changes === 1 ? 'differs' : 'differ'}.`}</p>
    <${TextDiff} left=${left} right=${right} />`
}

/** Two texts side by side. Signs say what colors show. */
export function TextDiff({ of, left, right }: SchemaDiffProps) {
  const title = `Difference of ${left.title} and ${right.title}`
  const parts = useMemo(() => foldUnchanged(diffLines(left.text, right.text)), [left.text, right.text])
  return html`<div class="diff" tabindex="0" role="region" aria-label=${of === undefined ? title : `${title}: ${of}`}>
      <table aria-label=${title}>
        <colgroup><col class="number" /><col class="sign" /><col /><col class="number" /><col class="sign" /><col /></colgroup>
        <thead><tr><th colspan="3" scope="col">${left.title}</th><th colspan="3" scope="col">${right.title}</th></tr></thead>
        ${parts.map((part, at) => html`<${Part} key=${`${at} ${part.rows.length}`} part=${part} />`)}
      </table>
    </div>`
}

function Part({ part }: { readonly part: DiffPart }) {
  const [isOpen, setOpen] = useState(!part.isFolded)
  if (!isOpen) {
    return html`<tbody><tr><td colspan="6" class="folded">
      <button onClick=${() => setOpen(true)}>Show ${counted(part.rows.length, 'equal line')}<span class="hidden"> from line ${part.rows[0]?.left?.number}</span></button>
    </td></tr></tbody>`
  }
  return html`<tbody>${part.rows.map(
    ({ kind, left, right }) => html`<tr key=${`${left?.number} ${right?.number}`} class=${kind}>
      <td class="number">${left?.number}</td><td class="sign"><${Sign} text=${SIGNS[kind][0]} /></td>
      <td class=${left ? 'left' : 'none'}>${left?.text}</td>
      <td class="number">${right?.number}</td><td class="sign"><${Sign} text=${SIGNS[kind][1]} /></td>
      <td class=${right ? 'right' : 'none'}>${right?.text}</td>
    </tr>`,
  )}</tbody>`
}

function Sign({ text }: { readonly text: string }) {
  return text && html`<span role="img" aria-label=${text === '+' ? 'added' : 'removed'}>${text}</span>`
}
