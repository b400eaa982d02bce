import { useRef } from 'preact/hooks'
import { html } from '../html.ts'
import { notify } from './notices.ts'

/** A manifest with a button that copies it. */
export function ManifestText({ text }: { readonly text: string }) {
  const block = useRef<HTMLPreElement>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      notify('Copied the manifest.')
    } catch {
      // Without TLS, browsers give pages of other hosts no clipboard.
      if (block.current !== null) getSelection()?.selectAllChildren(block.current)
      notify('The browser gives no access to the clipboard. The manifest is selected: copy it with the keyboard.')
    }
  }
  return html`<div class="manifest">
    <button type="button" onClick=${() => void copy()}>Copy the manifest</button>
    <pre ref=${block} tabindex="0" aria-label="Manifest">${text}</pre>
  </div>`
}
