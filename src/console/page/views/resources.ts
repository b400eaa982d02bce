import { computed } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { countedOf } from '../../../common/counted.ts'
import { FirstStep } from '../components/first-step.ts'
import { valueInto } from '../components/log-in.ts'
import { StateBadge } from '../components/state-badge.ts'
import { VirtualTable } from '../components/virtual-table.ts'
import { html } from '../html.ts'
import { hrefOf, pageLocation, setFilter } from '../location.ts'
import { useQuery } from '../queries.ts'
import { filterResources, needsAttention, type ReportedResource, sortResources } from '../resource-rows.ts'

/** What is declared, from the operator. */
export function useResources() {
  return useQuery<readonly ReportedResource[]>('/ui/api/resources', { kind: 'resource' })
}

/** All resources, those that are not Ready first. */
export function ResourceList() {
  const { data, error } = useResources()
  const shown = useMemo(
    () => computed(() => sortResources(filterResources(data.value ?? [], pageLocation.value.filters))),
    [data],
  )
  const { filters } = pageLocation.value
  return html`
    <h1>Resources</h1>
    <form class="filters" role="search" aria-label="Resources" onSubmit=${(event: Event) => event.preventDefault()}>
      <label>Search <input type="search" value=${filters['search'] ?? ''}
        onInput=${valueInto((value) => setFilter('search', value))} /></label>
      <label>Ready
        <select value=${filters['ready'] ?? ''} onChange=${valueInto((value) => setFilter('ready', value))}>
          <option value="">all</option>
          <option value="True">True</option>
          <option value="False">False</option>
          <option value="Unknown">Unknown</option>
        </select>
      </label>
      <span role="status">${countedOf(shown.value.length, data.value?.length ?? 0)}</span>
    </form>
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    ${data.value?.length === 0 && html`<${FirstStep} of="resources" />`}
    <${VirtualTable}
      label="Resources"
      rows=${shown.value}
      keyOf=${({ kind, namespace, name }: ReportedResource) => `${kind}/${namespace}/${name}`}
      empty=${data.value === undefined ? 'Loading …' : 'No resource matches.'}
      columns=${[
        { title: 'Name', width: 2, cell: (row: ReportedResource) => html`<${ObjectLink} resource=${row} />` },
        { title: 'Ready', narrowPx: 160, cell: (row: ReportedResource) => html`<${ReadyBadge} resource=${row} />` },
        { title: 'Kind', cell: ({ kind }: ReportedResource) => kind },
        { title: 'Namespace', cell: ({ namespace }: ReportedResource) => namespace },
        {
          title: 'Message',
          width: 4,
          cell: ({ message, drift }: ReportedResource) =>
            html`<span title=${drift ?? message}>${drift === undefined ? message : `Drift: ${drift}`}</span>`,
        },
      ]}
    />
  `
}

/** Whether a resource is Ready, by its reason. */
export function ReadyBadge({ resource }: { readonly resource: ReportedResource }) {
  const { ready, reason, state } = resource
  return html`<${StateBadge} state=${reason} tone=${ready === 'True' ? 'good' : needsAttention(resource) ? 'bad' : 'waiting'}>${state}<//>`
}

/** Leads to the object that a resource declares. */
function ObjectLink({ resource }: { readonly resource: ReportedResource }) {
  const { kind, name, runtime = '', object } = resource
  const view = kind === 'Connector' ? 'connectors' : 'subjects'
  return object === undefined ? name : html`<a href=${hrefOf([view, object], { runtime })}>${name}</a>`
}
