import { shownState, urgencyOf } from '../../common/state-glossary.ts'
import { declaringResource } from './config-fields.ts'
import { compareText, sortRows } from './sort-rows.ts'
import type { ConnectorStatusInfo, ExpandedConnectors, InstanceStatus } from './wire.ts'

/** One connector as lists show it. */
export type ConnectorRow = {
  readonly name: string
  readonly type: string
  /** FAILED if the connector or one of its tasks is. */
  readonly state: string
  /** The states of the connector and its tasks. */
  readonly states: readonly string[]
  readonly className: string
  /** `running/total` */
  readonly tasks: string
  readonly failedTasks: number
  readonly workers: readonly string[]
  /** Whether a resource declares it. */
  readonly isDeclared: boolean
  /** The first line of the trace of what failed; empty if nothing has. */
  readonly reason: string
  /** Undefined if no task of the connector runs, or the workers keep no metrics. */
  readonly load: ListedLoad | undefined
}

/** What the tasks of a connector do now; `recordsPerSecond` is null while it is unknown. */
export type ListedLoad = {
  readonly recordsPerSecond: number | null
  /** The highest lag of a partition; 0 for a source. */
  readonly lag: number
  /** Records that failed in the last hour. */
  readonly errors: number
}

/** `GET /ui/api/connector-metrics`: what each worker of the group knows of its tasks. */
export type WorkerLoads = {
  readonly workers: readonly { readonly connectors: Readonly<Record<string, ListedLoad>> }[]
}

export function connectorRows(connectors: ExpandedConnectors, loads?: WorkerLoads): readonly ConnectorRow[] {
  const byName = loadsByName(loads)
  return Object.entries(connectors).map(([name, { info, status }]) => ({
    name,
    type: info?.type ?? status?.type ?? 'unknown',
    className: shortClassName(info?.config['connector.class'] ?? ''),
    load: byName.get(name),
    isDeclared: declaringResource(info?.config) !== undefined,
    ...summarize(status),
  }))
}

function loadsByName(loads: WorkerLoads | undefined): ReadonlyMap<string, ListedLoad> {
  const byName = new Map<string, ListedLoad>()
  for (const { connectors } of loads?.workers ?? []) {
    for (const [name, load] of Object.entries(connectors)) {
      const other = byName.get(name)
      byName.set(name, other === undefined ? load : addedLoads(other, load))
    }
  }
  return byName
}

function addedLoads(a: ListedLoad, b: ListedLoad): ListedLoad {
  const isUnknown = a.recordsPerSecond === null && b.recordsPerSecond === null
  return {
    recordsPerSecond: isUnknown ? null : (a.recordsPerSecond ?? 0) + (b.recordsPerSecond ?? 0),
    lag: Math.max(a.lag, b.lag),
    errors: a.errors + b.errors,
  }
}

/** `io.debezium.connector.postgresql.PostgresConnector` → `PostgresConnector` */
export function shortClassName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

function summarize(
  status: ConnectorStatusInfo | undefined,
): Omit<ConnectorRow, 'name' | 'type' | 'className' | 'load' | 'isDeclared'> {
  if (status === undefined)
    return { state: 'UNASSIGNED', states: ['UNASSIGNED'], tasks: '0/0', failedTasks: 0, workers: [], reason: '' }
  const instances: readonly InstanceStatus[] = [status.connector, ...status.tasks]
  const states = [...new Set(instances.map(({ state }) => state))]
  const failed = instances.find(({ state }) => state === 'FAILED')
  const waiting = instances.find(({ state, trace }) => state === 'UNASSIGNED' && trace !== undefined)
  return {
    state: shownState(status),
    states,
    tasks: `${status.tasks.filter(({ state }) => state === 'RUNNING').length}/${status.tasks.length}`,
    failedTasks: status.tasks.filter(({ state }) => state === 'FAILED').length,
    workers: [...new Set(instances.map(({ worker_id }) => worker_id))],
    reason: firstLine((failed ?? waiting)?.trace ?? ''),
  }
}

export function firstLine(text: string): string {
  return text.trimStart().split('\n', 1)[0]?.slice(0, 500) ?? ''
}

/** `search` matches names, classes and reasons; the other filters must be equal. Unknown filters have no effect. */
export function filterConnectors(
  rows: readonly ConnectorRow[],
  filters: Readonly<Record<string, string>>,
): readonly ConnectorRow[] {
  const { search = '', state = '', class: className = '', worker = '' } = filters
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return rows.filter(
    (row) =>
      (state === '' || row.states.includes(state)) &&
      (className === '' || row.className === className) &&
      (worker === '' || row.workers.includes(worker)) &&
      words.every((word) => `${row.name}\n${row.className}\n${row.reason}`.toLowerCase().includes(word)),
  )
}

/**
 * `sort` is `name`, `state`, `failed`, `class`, or with the highest first `rate`, `lag` or `errors`; in the other order with `-`
 * before it. Default: the most urgent first.
 */
export function sortConnectors(rows: readonly ConnectorRow[], sort: string): readonly ConnectorRow[] {
  const orders = {
    class: (a: ConnectorRow, b: ConnectorRow) => compareText(a.className, b.className),
    failed: (a: ConnectorRow, b: ConnectorRow) => b.failedTasks - a.failedTasks,
    rate: byLoad(({ recordsPerSecond }) => recordsPerSecond ?? 0),
    lag: byLoad(({ lag }) => lag),
    errors: byLoad(({ errors }) => errors),
  }
  return sortRows(
    rows,
    sort,
    orders,
    ({ name }) => name,
    (a, b) => urgencyOf(a.state) - urgencyOf(b.state),
  )
}

/** Sorts by descending value. Connectors without metrics come last. */
function byLoad(read: (load: ListedLoad) => number): (a: ConnectorRow, b: ConnectorRow) => number {
  const shownValue = ({ load }: ConnectorRow) => (load === undefined ? -1 : read(load))
  return (a, b) => shownValue(b) - shownValue(a)
}
