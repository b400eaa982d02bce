import { useRef } from 'preact/hooks'
import { html } from '../html.ts'
import { notify } from './notices.ts'
import { sentence } from './sentence.ts'

/** A text, such as a manifest or a command, with a button that copies it. `name` is what it is called in the page. */
export function CopiedText({ text, name }: { readonly text: string; readonly name: string }) {
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
    <button type="button" onClick=${() => void copy()}>Copy the ${name.toLowerCase()}</button>
    <pre ref=${block} tabindex="0" aria-label=${name}>${text}</pre>
  </div>`
}
