import { computed } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { valueInto } from '../components/log-in.ts'
import { StateBadge } from '../components/state-badge.ts'
import { VirtualTable } from '../components/virtual-table.ts'
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
  const sort = filters['sort'] ?? ''
  const sortBy = (column: string) => ({
    onSort: () => setFilter('sort', sort === column ? `-${column}` : column),
    ...(sort === column ? { sorted: 'ascending' as const } : {}),
    ...(sort === `-${column}` ? { sorted: 'descending' as const } : {}),
  })
  const choices = (of: (row: ConnectorRow) => readonly string[]) => [...new Set(all.value.flatMap(of))].sort()
  return html`
    <h1>Connectors</h1>
    ${!READERS.has(role) && !runtime.isReadOnly && html`<p><a href=${hrefOf(['new-connector'], { runtime: runtime.name })}>Create a connector</a></p>`}
    <form class="filters" role="search" onSubmit=${(event: Event) => event.preventDefault()}>
      <label>Search <input type="search" value=${filters['search'] ?? ''} onInput=${filter('search')} /></label>
      <${Choice} name="state" title="State" values=${choices(({ states }) => states)} />
      <${Choice} name="class" title="Class" values=${choices((row) => [row.className])} />
      <${Choice} name="worker" title="Worker" values=${choices(({ workers }) => workers)} />
      <span role="status">${shown.value.length} of ${all.value.length}</span>
    </form>
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    <${VirtualTable}
      label="Connectors"
      rows=${shown.value}
      keyOf=${({ name }: ConnectorRow) => name}
      empty=${data.value === undefined ? 'Loading …' : 'No connector matches.'}
      columns=${[
        {
          title: 'Name',
          width: 3,
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
        ...(loads.value === undefined ? [] : loadColumns(sortBy)),
        { title: 'Class', width: 2, ...sortBy('class'), cell: ({ className }: ConnectorRow) => className },
        { title: 'Reason', width: 4, cell: ({ reason }: ConnectorRow) => reason },
      ]}
    />
  `
}

/** Only where the workers keep metrics for the console. */
function loadColumns(sortBy: (column: string) => object) {
  const text =
    (read: (load: ListedLoad) => number | null) =>
    ({ load }: ConnectorRow) =>
      load && formatValue(read(load) ?? undefined)
  return [
    { title: 'Records/s', width: 1.1, ...sortBy('rate'), cell: text(({ recordsPerSecond }) => recordsPerSecond) },
    {
      title: 'Lag',
      ...sortBy('lag'),
      cell: ({ type, load }: ConnectorRow) => (type === 'sink' ? load && formatValue(load.lag) : ''),
    },
    { title: 'Errors/h', ...sortBy('errors'), cell: text(({ errors }) => errors) },
  ]
}

function Choice({ name, title, values }: { name: string; title: string; values: readonly string[] }) {
  const selected = pageLocation.value.filters[name] ?? ''
  return html`<label>${title}
    <select value=${selected} onChange=${filter(name)}>
      <option value="">all</option>
      ${values.map((value) => html`<option value=${value}>${value}</option>`)}
    </select>
  </label>`
}

const filter = (name: string) => valueInto((value) => setFilter(name, value))
