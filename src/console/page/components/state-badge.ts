import { explainState, type StateWord, type Tone, toneOf } from '../../../common/state-glossary.ts'
import { html } from '../html.ts'

type StateBadgeProps = {
  /** A word of the glossary, or one of another vendor. */
  readonly state: StateWord | (string & {})
  /** Default: that of the glossary. */
  readonly tone?: Tone
  /** More than the word, such as the tasks that run. */
  readonly children?: unknown
}

/** A state. The text says it, so that the color need not; the glossary explains it. */
export function StateBadge({ state, tone = toneOf(state), children }: StateBadgeProps) {
  return html`<span class=${`badge ${tone}`} title=${explainState(state)?.meaning}>${children ?? state}</span>`
}
