import { html } from '../html.ts'
import { hrefOf } from '../location.ts'
import { pathSegment } from '../path-segment.ts'
import { useQuery } from '../queries.ts'
import type { Runtime } from '../session.ts'
import { StateBadge } from './state-badge.ts'

/**
 * The contexts of a registry in mode IMPORT, which refuses usual registrations. The API lists no modes of single subjects,
 * which their views show.
 */
export function ImportWindows({ runtime }: { readonly runtime: Runtime }) {
  const { data } = useQuery<readonly string[]>(`${runtime.basePath}/contexts`, { kind: 'subject' })
  return html`<ul class="attention">
    ${data.value?.map((context) => html`<${ImportWindow} key=${context} runtime=${runtime} context=${context} />`)}
  </ul>`
}

function ImportWindow({ runtime, context }: { readonly runtime: Runtime; readonly context: string }) {
  const suffix = context === '.' ? '' : `/${pathSegment(`:${context}:`)}?defaultToGlobal=true`
  const { data } = useQuery<{ readonly mode: string }>(`${runtime.basePath}/mode${suffix}`, { kind: 'subject' })
  if (data.value?.mode !== 'IMPORT') return null
  const filters = { runtime: runtime.name, settings: 'true', context }
  return html`<li><${StateBadge} state="IMPORT" />
    <a href=${hrefOf(['subjects'], filters)}>${context === '.' ? 'default context' : `context ${context}`}</a>
    <span class="reason">An import window is open: producers cannot register schemas. End it with mode READWRITE.</span></li>`
}
