import { computed } from '@preact/signals'
import { useMemo, useState } from 'preact/hooks'
import { valueInto } from '../components/log-in.ts'
import { ScopeSettings } from '../components/scope-settings.ts'
import { VirtualTable } from '../components/virtual-table.ts'
import { html } from '../html.ts'
import { hrefOf, pageLocation, setFilter } from '../location.ts'
import { useQuery } from '../queries.ts'
import { type Runtime, useRights } from '../session.ts'
import { filterSubjects, parseSubject, type SubjectName } from '../subject-names.ts'
import { VersionList } from './version-list.ts'

/** All subjects of a registry, of all contexts. The filters are in the URL. */
export function SubjectList({ runtime }: { readonly runtime: Runtime }) {
  const { filters } = pageLocation.value
  const deleted = filters['deleted'] === 'true'
  const settings = filters['settings'] === 'true'
  const context = filters['context'] ?? ''
  const scope = context === '' || context === '.' ? '' : `:${context}:`
  const { data, error } = useQuery<readonly string[]>(
    `${runtime.basePath}/subjects?subjectPrefix=:*:${deleted ? '&deleted=true' : ''}`,
    { kind: 'subject' },
  )
  const all = useMemo(() => computed(() => (data.value ?? []).map(parseSubject)), [data])
  const contexts = useMemo(() => computed(() => [...new Set(all.value.map(({ context }) => context))].sort()), [all])
  const shown = useMemo(() => computed(() => filterSubjects(all.value, pageLocation.value.filters)), [all])
  const table = () => html`<${VirtualTable}
      label="Subjects"
      rows=${shown.value}
      keyOf=${({ qualified }: SubjectName) => qualified}
      empty=${data.value === undefined ? 'Loading …' : 'No subject matches.'}
      columns=${[
        {
          title: 'Subject',
          width: 3,
          cell: ({ qualified, name }: SubjectName) =>
            html`<a href=${hrefOf(['subjects', qualified], { runtime: filters['runtime'] ?? '' })}>${name}</a>`,
        },
        { title: 'Context', cell: ({ context }: SubjectName) => context },
      ]}
    />`
  return html`
    <h1>Subjects</h1>
    <form class="filters" role="search" onSubmit=${(event: Event) => event.preventDefault()}>
      <label>Search <input type="search" value=${filters['search'] ?? ''}
        onInput=${valueInto((value) => setFilter('search', value))} /></label>
      <label>Context
        <select value=${filters['context'] ?? ''} onChange=${valueInto((value) => setFilter('context', value))}>
          <option value="">all</option>
          ${contexts.value.map((context) => html`<option value=${context}>${context}</option>`)}
        </select>
      </label>
      <label class="check"><input type="checkbox" checked=${deleted}
        onChange=${() => setFilter('deleted', deleted ? '' : 'true')} /> with deleted</label>
      <label>Show
        <select value=${filters['show'] ?? ''} onChange=${valueInto((value) => setFilter('show', value))}>
          <option value="">subjects</option><option value="versions">all versions</option>
        </select>
      </label>
      <button type="button" aria-expanded=${String(settings)} onClick=${() => setFilter('settings', settings ? '' : 'true')}>
        Compatibility and mode</button>
      <span role="status">${shown.value.length} of ${all.value.length}</span>
    </form>
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    <${NewSubject} runtime=${runtime} />
    ${settings && html`<${ScopeSettings} key=${scope} runtime=${runtime} subject=${scope} />`}
    ${filters['show'] === 'versions' ? html`<${VersionList} runtime=${runtime} />` : table()}
  `
}

/** Leads to the draft of a subject that does not exist yet. */
function NewSubject({ runtime }: { readonly runtime: Runtime }) {
  const [name, setName] = useState('')
  const may = useRights('subjects', name.trim())
  const open = (event: Event) => {
    event.preventDefault()
    location.hash = hrefOf(['subjects', name.trim(), 'draft'], { runtime: runtime.name })
  }
  return html`<details class="new"><summary>New subject</summary>
    <form class="filters" onSubmit=${open}>
      <label>Name, such as orders-value or :.context:orders-value
        <input required value=${name} onInput=${valueInto(setName)} />
      </label>
      <button disabled=${name.trim() === '' || !may('write')}>Write its first schema</button>
      ${name.trim() !== '' && !may('write') && html`<span role="status">You may not register schemas under this name.</span>`}
    </form>
  </details>`
}
