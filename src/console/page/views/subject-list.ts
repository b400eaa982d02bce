import { computed } from '@preact/signals'
import { useMemo, useState } from 'preact/hooks'
import { countedOf } from '../../../common/counted.ts'
import type { subjectUses } from '../../../common/topic-use.ts'
import { FilterChoice } from '../components/filter-choice.ts'
import { FirstStep } from '../components/first-step.ts'
import { LocalTime } from '../components/local-time.ts'
import { valueInto } from '../components/log-in.ts'
import { ScopeSettings } from '../components/scope-settings.ts'
import { sortBy, VirtualTable } from '../components/virtual-table.ts'
import { html } from '../html.ts'
import { hrefOf, pageLocation, setFilter } from '../location.ts'
import { useQuery } from '../queries.ts'
import { type Runtime, useRights } from '../session.ts'
import {
  filterSubjectRows,
  type ListedSubject,
  type SubjectSummary,
  sortSubjectRows,
  subjectRow,
} from '../subject-rows.ts'
import { useSubjectUses } from '../subject-use-query.ts'
import { VersionList } from './version-list.ts'

type SubjectListProps = {
  readonly runtime: Runtime
  /** Those whose connectors may use the subjects. */
  readonly workers: readonly Runtime[]
}

/** All subjects of a registry, of all contexts. Filters and order are in the URL. */
export function SubjectList({ runtime, workers }: SubjectListProps) {
  const { filters } = pageLocation.value
  const deleted = filters['deleted'] === 'true'
  const settings = filters['settings'] === 'true'
  const context = filters['context'] ?? ''
  const scope = context === '' || context === '.' ? '' : `:${context}:`
  const { rows, error } = useSubjects(runtime, deleted)
  const useOf = useSubjectUses(workers)
  const choices = (of: (row: ListedSubject) => string) =>
    computed(() => [...new Set((rows.value ?? []).map(of))].filter(Boolean).sort())
  const contexts = useMemo(() => choices((row) => row.context), [rows])
  const types = useMemo(() => choices((row) => row.type), [rows])
  const levels = useMemo(() => choices((row) => row.level), [rows])
  const shown = useMemo(
    () =>
      computed(() => {
        const { filters } = pageLocation.value
        return sortSubjectRows(filterSubjectRows(rows.value ?? [], filters, useOf.value), filters['sort'] ?? '')
      }),
    [rows, useOf],
  )
  return html`
    <h1>Subjects</h1>
    <form class="filters" role="search" aria-label="Subjects" onSubmit=${(event: Event) => event.preventDefault()}>
      <label>Search <input type="search" value=${filters['search'] ?? ''}
        onInput=${valueInto((value) => setFilter('search', value))} /></label>
      <${FilterChoice} name="context" title="Context" values=${contexts.value} />
      <${FilterChoice} name="type" title="Type" values=${types.value} />
      <${FilterChoice} name="level" title="Level" values=${levels.value} />
      <label class="check"><input type="checkbox" checked=${deleted}
        onChange=${() => setFilter('deleted', deleted ? '' : 'true')} /> with deleted</label>
      <label>Show
        <select value=${filters['show'] ?? ''} onChange=${valueInto((value) => setFilter('show', value))}>
          <option value="">subjects</option><option value="versions">all versions</option>
        </select>
      </label>
      <button type="button" aria-expanded=${String(settings)} onClick=${() => setFilter('settings', settings ? '' : 'true')}>
        Compatibility and mode</button>
      <span role="status">${countedOf(shown.value.length, rows.value?.length ?? 0)}</span>
    </form>
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    <${NewSubject} runtime=${runtime} />
    ${settings && html`<${ScopeSettings} key=${scope} runtime=${runtime} subject=${scope} />`}
    ${rows.value?.length === 0 && html`<${FirstStep} of="subjects" runtime=${runtime} />`}
    ${
      filters['show'] === 'versions'
        ? html`<${VersionList} runtime=${runtime} />`
        : html`<${VirtualTable} label="Subjects" rows=${shown.value} keyOf=${({ qualified }: ListedSubject) => qualified}
            empty=${rows.value === undefined ? 'Loading …' : 'No subject matches.'} columns=${columns(useOf.value, workers.length > 0, contexts.value.length > 1)} />`
    }
  `
}

/** A column that would be empty, or have the same text in each row, is left out. */
function columns(useOf: ReturnType<typeof subjectUses>, hasUses: boolean, hasContexts: boolean) {
  const { filters } = pageLocation.value
  return [
    {
      title: 'Subject',
      width: 2.6,
      ...sortBy('name'),
      cell: ({ qualified, name }: ListedSubject) =>
        html`<a href=${hrefOf(['subjects', qualified], { runtime: filters['runtime'] ?? '' })}>${name}</a>`,
    },
    {
      title: 'Version',
      isNumber: true,
      ...sortBy('version'),
      cell: ({ version, isDeleted }: ListedSubject) => `${version ?? ''}${isDeleted ? ' deleted' : ''}`,
    },
    { title: 'ID', width: 0.8, isNumber: true, ...sortBy('id'), cell: ({ id }: ListedSubject) => id },
    { title: 'Type', width: 1.2, ...sortBy('type'), cell: ({ type }: ListedSubject) => type },
    {
      title: 'Level',
      width: 2,
      ...sortBy('level'),
      cell: ({ level, hasOwnLevel }: ListedSubject) =>
        level && html`${level} <span class="idle">${hasOwnLevel ? 'own' : 'inherited'}</span>`,
    },
    {
      title: 'Changed',
      width: 2,
      ...sortBy('changed'),
      cell: ({ changedMs }: ListedSubject) => changedMs > 0 && html`<${LocalTime} ms=${changedMs} />`,
    },
    ...(hasUses
      ? [
          {
            title: 'Used by',
            width: 3,
            cell: ({ qualified }: ListedSubject) => html`<${Users} ...${useOf(qualified)} />`,
          },
        ]
      : []),
    ...(hasContexts ? [{ title: 'Context', width: 0.9, cell: ({ context }: ListedSubject) => context }] : []),
  ]
}

function Users({ topics, connectors }: ReturnType<ReturnType<typeof subjectUses>>) {
  const text = [...topics.map((topic) => `topic ${topic}`), ...connectors].join(', ')
  const [topic] = topics
  if (topic === undefined) return null
  return html`<a href=${hrefOf(['graph'], { search: topic })} title=${text}>${text}</a>`
}

/** The rows of the list. A registry of another vendor is asked for the names only. */
function useSubjects(runtime: Runtime, deleted: boolean) {
  const suffix = deleted ? 'deleted=true' : ''
  const summaries = useQuery<readonly SubjectSummary[]>(`${runtime.basePath}/ui/api/subjects?${suffix}`, {
    kind: 'subject',
  })
  const isOther = summaries.error.value?.status === 404
  const names = useQuery<readonly string[]>(
    isOther ? `${runtime.basePath}/subjects?subjectPrefix=:*:&${suffix}` : undefined,
    { kind: 'subject' },
  )
  const rows = useMemo(
    () =>
      computed(() => {
        const found = isOther ? names.data.value?.map((name) => [name] as const) : summaries.data.value
        return found?.map(subjectRow)
      }),
    [summaries, names, isOther],
  )
  return { rows, error: isOther ? names.error : summaries.error }
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
      <span role="status">${name.trim() !== '' && !may('write') && 'You may not register schemas under this name.'}</span>
    </form>
  </details>`
}
