import { html } from '../html.ts'
import { hrefOf, pageLocation } from '../location.ts'
import type { Runtime } from '../session.ts'

type SectionLinksProps = {
  readonly label: string
  /** The path of the object to which the sections belong. */
  readonly object: readonly string[]
  readonly runtime: Runtime
  /** The first one has no part of the path. */
  readonly sections: readonly (readonly [path: string, title: string])[]
  /** Whether `sections` are all of the object: some depend on what is still loading. */
  readonly areKnown: boolean
}

/** Links to the sections of an object. The third part of the path selects one; a message says if it names none. */
export function SectionLinks({ label, object, runtime, sections, areKnown }: SectionLinksProps) {
  const [, , selected = ''] = pageLocation.value.path
  return html`<nav class="sections" aria-label=${label}>
      ${sections.map(
        ([path, title]) => html`<a key=${path} aria-current=${path === selected ? 'page' : undefined}
          href=${hrefOf(path === '' ? object : [...object, path], { runtime: runtime.name })}>${title}</a>`,
      )}
    </nav>
    ${areKnown && !sections.some(([path]) => path === selected) && html`<p class="error" role="alert">There is no section '${selected}' here.</p>`}`
}
