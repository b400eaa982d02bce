import { useRef } from 'preact/hooks'
import { html } from '../html.ts'
import { notify } from './notices.ts'
import { sentence } from './sentence.ts'

type CopiedTextProps = {
  readonly text: string
  readonly name: string
  /** What the text is for, where a page has several. */
  readonly purpose?: string
}

/** A text, such as a manifest or a command, with a button that copies it. `name` is what it is called in the page. */
export function CopiedText({ text, name, purpose }: CopiedTextProps) {
  const block = useRef<HTMLPreElement>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      notify(sentence`Copied the ${name.toLowerCase()}.`)
    } catch {
      // Without TLS, browsers give pages of other hosts no clipboard.
      if (block.current !== null) getSelection()?.selectAllChildren(block.current)
      notify(
        sentence`The browser gives no access to the clipboard. The ${name.toLowerCase()} is selected: copy it with the keyboard.`,
      )
    }
  }
  return html`<div class="copied">
    <button type="button" aria-label=${purpose && `Copy the ${name.toLowerCase()} ${purpose}`} onClick=${() => void copy()}>Copy the ${name.toLowerCase()}</button>
    <pre ref=${block} tabindex="0" role="group" aria-label=${name}>${text}</pre>
  </div>`
}
