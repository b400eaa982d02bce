import type { ComponentChildren } from 'preact'
import { html } from '../html.ts'

/**
 * A sentence of a confirmation or a notice. Its values are isolated, so that characters in a name that change the direction
 * of text reorder the name only.
 */
export function sentence(texts: TemplateStringsArray, ...values: readonly (string | number)[]): ComponentChildren {
  return texts.map((text, at) => (at < values.length ? html`${text}<bdi>${values[at]}</bdi>` : text))
}
