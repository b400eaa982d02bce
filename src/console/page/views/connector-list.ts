import { computed } from '@preact/signals'
import { useMemo, useState } from 'preact/hooks'
import { countedOf } from '../../../common/counted.ts'
import { SELECTED_MAX } from '../bulk-action.ts'
import { BulkActions } from '../components/bulk-actions.ts'
import { FilterChoice } from '../components/filter-choice.ts'
import { FirstStep } from '../components/first-step.ts'
import { valueInto } from '../components/log-in.ts'
import { StateBadge } from '../components/state-badge.ts'
import { sortBy, VirtualTable } from '../components/virtual-table.ts'
import {
  type ConnectorRow,
  connectorRows,
  filterConnectors,
  type ListedLoad,
  sortConnectors,
  type WorkerLoads,
} from '../connector-rows.ts'
import { html } from '../html.ts'
import { hrefOf, pageLocation, setFilter } from '../location.ts'
import { formatValue } from '../metrics-plots.ts'
import { useQuery } from '../queries.ts'
import { type Runtime, useSession } from '../session.ts'
import type { ExpandedConnectors } from '../wire.ts'

/** Roles that create nothing. Others may have the permission for some names, which the form checks. */
const READERS: ReadonlySet<string> = new Set(['readonly', 'none'])

/** All connectors of a worker group, failed first. Filters and order are in the URL. */
export function ConnectorList({ runtime }: { readonly runtime: Runtime }) {
  const { data, error } = useQuery<ExpandedConnectors>(`${runtime.basePath}/connectors?expand=info&expand=status`, {
    kind: 'connector',
  })
  const { data: loads } = useQuery<WorkerLoads>(`${runtime.basePath}/ui/api/connector-metrics`)
  const all = useMemo(() => computed(() => connectorRows(data.value ?? {}, loads.value)), [data, loads])
  const shown = useMemo(
    () =>
      computed(() => {
        const { filters } = pageLocation.value
        return sortConnectors(filterConnectors(all.value, filters), filters['sort'] ?? '')
      }),
    [all],
  )
  const { filters } = pageLocation.value
  const role = useSession().data.value?.user?.role ?? ''
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set())
  const mayChange = !READERS.has(role) && !runtime.isReadOnly
  const selected = all.value.filter(({ name }) => selection.has(name))
  const select = (names: readonly string[]) => setSelection(new Set(names.slice(0, SELECTED_MAX)))
  const choices = (of: (row: ConnectorRow) => readonly string[]) => [...new Set(all.value.flatMap(of))].sort()
  return html`
    <h1>Connectors</h1>
    ${mayChange && html`<p><a href=${hrefOf(['new-connector'], { runtime: runtime.name })}>Create a connector</a></p>`}
    <form class="filters" role="search" aria-label="Connectors" onSubmit=${(event: Event) => event.preventDefault()}>
      <label>Search <input type="search" value=${filters['search'] ?? ''} onInput=${valueInto((value) => setFilter('search', value))} /></label>
      <${FilterChoice} name="state" title="State" values=${choices(({ states }) => states)} />
      <${FilterChoice} name="class" title="Class" values=${choices((row) => [row.className])} />
      <${FilterChoice} name="worker" title="Worker" values=${choices(({ workers }) => workers)} />
      <span role="status">${countedOf(shown.value.length, all.value.length)}</span>
    </form>
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    ${data.value !== undefined && all.value.length === 0 && html`<${FirstStep} of="connectors" runtime=${runtime} />`}
    ${mayChange && all.value.length > 0 && html`<${BulkActions} basePath=${runtime.basePath} selected=${selected} onSelect=${select} />`}
    <${VirtualTable}
      label="Connectors"
      rows=${shown.value}
      keyOf=${({ name }: ConnectorRow) => name}
      empty=${data.value === undefined ? 'Loading …' : 'No connector matches.'}
      columns=${[
        ...(mayChange ? [selectionColumn(selection, shown.value, select)] : []),
        {
          title: 'Name',
          width: 4,
          ...sortBy('name'),
          cell: ({ name }: ConnectorRow) =>
            html`<a href=${hrefOf(['connectors', name], { runtime: filters['runtime'] ?? '' })}>${name}</a>`,
        },
        {
          title: 'State',
          width: 1.4,
          ...sortBy('state'),
          cell: ({ state }: ConnectorRow) => html`<${StateBadge} state=${state} />`,
        },
        { title: 'Tasks', width: 0.8, ...sortBy('failed'), cell: ({ tasks }: ConnectorRow) => tasks },
        ...(loads.value === undefined ? [] : loadColumns()),
        { title: 'Class', width: 2, ...sortBy('class'), cell: ({ className }: ConnectorRow) => className },
        { title: 'Reason', width: 4, cell: ({ reason }: ConnectorRow) => reason },
      ]}
    />
  `
}

/** Selects connectors for an action on all of them. */
function selectionColumn(
  selection: ReadonlySet<string>,
  shown: readonly ConnectorRow[],
  select: (names: readonly string[]) => void,
) {
  const first = shown.slice(0, SELECTED_MAX)
  const isAll = first.length > 0 && first.every(({ name }) => selection.has(name))
  const toggle = (name: string) =>
    select(selection.has(name) ? [...selection].filter((one) => one !== name) : [...selection, name])
  return {
    title: html`<input type="checkbox" aria-label="Select all that are shown" checked=${isAll}
      onChange=${() => select(isAll ? [] : first.map(({ name }) => name))} />`,
    isNarrow: true,
    cell: ({ name }: ConnectorRow) =>
      html`<input type="checkbox" aria-label=${`Select ${name}`} checked=${selection.has(name)} onChange=${() => toggle(name)} />`,
  }
}

/** Only where the workers keep metrics for the console. */
function loadColumns() {
  const text =
    (read: (load: ListedLoad) => number | null) =>
    ({ load }: ConnectorRow) =>
      load && formatValue(read(load) ?? undefined)
  return [
    {
      title: 'Records/s',
      width: 1.2,
      isNumber: true,
      ...sortBy('rate'),
      cell: text(({ recordsPerSecond }) => recordsPerSecond),
    },
    {
      title: 'Lag',
      isNumber: true,
      ...sortBy('lag'),
      cell: ({ type, load }: ConnectorRow) => (type === 'sink' ? load && formatValue(load.lag) : ''),
    },
    { title: 'Errors/h', isNumber: true, ...sortBy('errors'), cell: text(({ errors }) => errors) },
  ]
}
