import { html } from '../html.ts'
import { hrefOf, pageLocation, setFilter } from '../location.ts'
import { useQuery } from '../queries.ts'
import type { Runtime } from '../session.ts'

type SchemaVersion = {
  readonly subject: string
  readonly version: number
  readonly id: number
  readonly schema: string
  readonly schemaType?: string
  readonly references?: readonly { readonly name: string; readonly subject: string; readonly version: number }[]
}

/** One subject: its versions, and the schema of the selected one. */
export function SubjectView({ runtime, subject }: { readonly runtime: Runtime; readonly subject: string }) {
  const path = `${runtime.basePath}/subjects/${encodeURIComponent(subject)}/versions`
  const changes = { kind: 'subject' } as const
  const versions = useQuery<readonly number[]>(path, changes)
  const selected = pageLocation.value.filters['version'] ?? String(versions.data.value?.at(-1) ?? '')
  return html`
    <p><a href=${hrefOf(['subjects'], { runtime: runtime.name })}>Subjects</a></p>
    <h1>${subject}</h1>
    ${versions.error.value && html`<p class="error" role="alert">${versions.error.value.message}</p>`}
    <nav class="versions" aria-label="Versions">
      ${versions.data.value?.map(
        (version) => html`<button key=${version} aria-current=${String(version) === selected ? 'true' : undefined}
          onClick=${() => setFilter('version', String(version))}>${version}</button>`,
      )}
    </nav>
    ${selected !== '' && html`<${Version} key=${selected} path=${`${path}/${encodeURIComponent(selected)}`} />`}
  `
}

function Version({ path }: { readonly path: string }) {
  const { data, error } = useQuery<SchemaVersion>(path, { kind: 'subject' })
  if (error.value) return html`<p class="error" role="alert">${error.value.message}</p>`
  if (data.value === undefined) return html`<p>Loading …</p>`
  const { version, id, schemaType = 'AVRO', schema, references = [] } = data.value
  return html`<h2>Version ${version} <small>id ${id}, ${schemaType}</small></h2>
    ${
      references.length > 0 &&
      html`<h3>References</h3>
        <ul>${references.map(
          (one) => html`<li key=${one.name}>${one.name}:
            <a href=${hrefOf(['subjects', one.subject], { version: String(one.version) })}>${one.subject} version ${one.version}</a></li>`,
        )}</ul>`
    }
    <pre class="schema" tabindex="0">${indentJson(schema)}</pre>`
}

/** Protobuf is not JSON and is shown as it is. */
function indentJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
