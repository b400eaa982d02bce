import { counted } from '../../../common/counted.ts'
import { deadLetterTopic } from '../../../common/topic-use.ts'
import {
  type AttentionItem,
  attentionOfConnectors,
  attentionOfLeadership,
  attentionOfLoads,
  attentionOfOperator,
  attentionOfPlugins,
  attentionOfResources,
  attentionOfRuntime,
  attentionOfWorkers,
  type OperatorReport,
  type RegistryLeadership,
  sortAttention,
  type WorkerReport,
} from '../attention.ts'
import { AttentionList } from '../components/attention-list.ts'
import { FirstStep } from '../components/first-step.ts'
import { ImportWindows } from '../components/import-windows.ts'
import { StateBadge } from '../components/state-badge.ts'
import { connectorRows, sortConnectors } from '../connector-rows.ts'
import { html } from '../html.ts'
import { hrefOf } from '../location.ts'
import { type LiveQuery, useQuery } from '../queries.ts'
import { needsAttention, type ReportedResource } from '../resource-rows.ts'
import type { ConsoleSession, Runtime } from '../session.ts'
import type { ExpandedConnectors } from '../wire.ts'
import { type GroupLoads, taskStates, workerRows } from '../worker-rows.ts'
import { useResources } from './resources.ts'

type OverviewProps = { readonly session: ConsoleSession }

/** What runs and what is wrong in all runtimes, failed first. */
export function Overview({ session }: OverviewProps) {
  const { runtimes, hasResources } = session
  // Each of these has queries of its own, so that a component has the same ones as long as it is shown.
  const key = runtimes.map(({ basePath }) => basePath).join(' ')
  return html`<h1>Overview</h1>
    ${
      hasResources
        ? html`<${OperatorOverview} key=${key} session=${session} />`
        : html`<${RuntimesOverview} key=${key} runtimes=${runtimes} others=${NONE} />`
    }`
}

/** What needs attention besides runtimes; `of` gets the connectors that are in the list already. */
type OtherAttention = {
  readonly of: (shown: ReadonlySet<string>) => readonly AttentionItem[]
  readonly isComplete: boolean
  readonly section?: unknown
}

const NONE: OtherAttention = { of: () => [], isComplete: true }

function OperatorOverview({ session }: OverviewProps) {
  const resources = useResources()
  const operator = useQuery<OperatorReport>('/ui/api/operator', { kind: 'resource' })
  const [known, state] = [resources.data.value, operator.data.value]
  const others: OtherAttention = {
    of: (shown) => [...attentionOfOperator(state), ...attentionOfResources(known ?? [], shown)],
    isComplete: known !== undefined && state !== undefined,
    section: html`<${DeclaredResources} resources=${known} state=${state} error=${resources.error.value?.message} />`,
  }
  return html`<${RuntimesOverview} runtimes=${session.runtimes} others=${others} />`
}

type WorkerQueries = {
  readonly runtime: Runtime
  readonly connectors: LiveQuery<ExpandedConnectors>
  readonly metrics: LiveQuery<GroupLoads>
  readonly status: LiveQuery<WorkerReport>
}
type RegistryQueries = {
  readonly runtime: Runtime
  readonly subjects: LiveQuery<readonly string[]>
  readonly status: LiveQuery<RegistryLeadership>
}

function RuntimesOverview({
  runtimes,
  others,
}: {
  readonly runtimes: readonly Runtime[]
  readonly others: OtherAttention
}) {
  const workers = runtimes.filter(({ kind }) => kind === 'worker').map(useWorker)
  const registries = runtimes.filter(({ kind }) => kind === 'registry').map(useRegistry)
  const ofRuntimes = [...workers.flatMap(attentionOfWorker), ...registries.flatMap(attentionOfRegistry)]
  const shown = new Set(
    workers.flatMap(({ runtime, connectors }) =>
      connectorRows(connectors.data.value ?? {})
        .filter(({ state }) => state === 'FAILED' || state === 'UNASSIGNED')
        .map(({ name }) => `${runtime.name}/${name}`),
    ),
  )
  const isRead = ({ data, error }: LiveQuery<unknown>) => data.value !== undefined || error.value !== undefined
  const isComplete =
    others.isComplete &&
    [...workers.map(({ connectors }) => connectors), ...registries.map(({ subjects }) => subjects)].every(isRead)
  return html`<${AttentionList} items=${sortAttention([...ofRuntimes, ...others.of(shown)])} isComplete=${isComplete} />
    ${others.section}
    ${workers.map((worker) => html`<${WorkerOverview} key=${`worker ${worker.runtime.name}`} ...${worker} />`)}
    ${registries.map((one) => html`<${RegistryOverview} key=${`registry ${one.runtime.name}`} ...${one} />`)}`
}

function useWorker(runtime: Runtime): WorkerQueries {
  const { basePath } = runtime
  return {
    runtime,
    connectors: useQuery<ExpandedConnectors>(`${basePath}/connectors?expand=info&expand=status`, { kind: 'connector' }),
    // Java workers do not have this endpoint.
    metrics: useQuery<GroupLoads>(`${basePath}/ui/api/connector-metrics`),
    status: useQuery<WorkerReport>(`${basePath}/ui/api/status`),
  }
}

function useRegistry(runtime: Runtime): RegistryQueries {
  const { basePath } = runtime
  return {
    runtime,
    subjects: useQuery<readonly string[]>(`${basePath}/subjects?subjectPrefix=:*:`, { kind: 'subject' }),
    // Registries of other vendors do not have this endpoint.
    status: useQuery<RegistryLeadership>(`${basePath}/ui/api/status`),
  }
}

function attentionOfWorker({ runtime, connectors, metrics, status }: WorkerQueries): readonly AttentionItem[] {
  const rows = sortConnectors(connectorRows(connectors.data.value ?? {}, current(metrics)), '')
  const withDeadLetters = new Set(
    Object.entries(connectors.data.value ?? {}).flatMap(([name, { info }]) =>
      deadLetterTopic(info?.config, info?.type) === '' ? [] : [name],
    ),
  )
  const failure = attentionOfRuntime(runtime, connectors.error.value)
  // The last metrics of a worker that does not respond are outdated.
  if (failure.length > 0) return failure
  return [
    ...attentionOfConnectors(runtime, rows),
    ...attentionOfWorkers(runtime, workerRows(connectors.data.value ?? {}, current(metrics)), current(metrics)),
    ...attentionOfPlugins(runtime, current(status)),
    ...attentionOfLoads(runtime, rows, withDeadLetters),
  ]
}

function attentionOfRegistry({ runtime, subjects, status }: RegistryQueries): readonly AttentionItem[] {
  return [...attentionOfRuntime(runtime, subjects.error.value), ...attentionOfLeadership(runtime, current(status))]
}

function current<Data>({ data, error }: LiveQuery<Data>): Data | undefined {
  return error.value === undefined ? data.value : undefined
}

function WorkerOverview({ runtime, connectors, metrics, status }: WorkerQueries) {
  const known = connectors.data.value ?? {}
  const rows = connectorRows(known)
  const counts = Map.groupBy(rows, ({ state }) => state)
  const group = current(metrics)
  const unused = current(status)?.unusedClasses ?? []
  const workers = workerRows(known, group)
  const filters = { runtime: runtime.name }
  return html`<section aria-label=${`Worker ${runtime.name}`}>
    <h2>Worker <small>${runtime.name}</small></h2>
    ${connectors.error.value && html`<p class="error" role="alert">${connectors.error.value.message}</p>`}
    <ul class="counts">
      <li><a href=${hrefOf(['connectors'], filters)}>${connectors.data.value ? counted(rows.length, 'connector') : 'unknown connectors'}</a></li>
      ${[...counts].map(
        ([state, ofState]) => html`<li key=${state}>
          <a href=${hrefOf(['connectors'], { ...filters, state })}><${StateBadge} state=${state} /> ${ofState.length}</a>
        </li>`,
      )}
      ${
        taskStates(known).length > 0 &&
        html`<li>tasks: ${taskStates(known).map(([state, count]) => html`<${StateBadge} key=${state} state=${state} /> ${count}${' '}`)}</li>`
      }
    </ul>
    ${connectors.data.value !== undefined && rows.length === 0 && html`<${FirstStep} of="connectors" runtime=${runtime} />`}
    ${
      workers.length > 0 &&
      html`<h3>Workers of the group</h3>
        <div class="scrolled"><table class="instances" aria-label=${`Workers of the group ${runtime.name}`}>
          <thead><tr><th scope="col">Worker</th><th scope="col">Connectors</th><th scope="col">Tasks</th>
            <th scope="col">Failed tasks</th><th scope="col">CPU</th><th scope="col">Memory</th></tr></thead>
          <tbody>${workers.map(
            ({ worker, connectors: count, tasks, failedTasks, process }) => html`<tr key=${worker}>
              <th scope="row"><a href=${hrefOf(['connectors'], { ...filters, worker })}>${worker}</a>${process?.isLeader && ' (leader)'}</th>
              <td data-title="Connectors">${count}</td><td data-title="Tasks">${tasks}</td>
              <td data-title="Failed tasks">${failedTasks}</td>
              <td data-title="CPU">${process ? `${process.cpu.toFixed(2)} cores` : 'unknown'}</td>
              <td data-title="Memory">${process ? `${Math.round(process.memoryBytes / 1_048_576)} MiB` : 'unknown'}</td>
            </tr>`,
          )}</tbody>
        </table></div>`
    }
    ${group?.missing?.map((reason) => html`<p key=${reason} class="error">A worker does not respond: ${reason}</p>`)}
    ${
      unused.length > 0 &&
      html`<details><summary>Classes of plugin locations that are not used (${unused.length})</summary>
        <ul>${unused.map(({ file, reason }) => html`<li key=${`${file} ${reason}`}><code>${file}</code>: ${reason}</li>`)}</ul>
      </details>`
    }
  </section>`
}

function RegistryOverview({ runtime, subjects, status }: RegistryQueries) {
  const mode = useQuery<{ readonly mode: string }>(`${runtime.basePath}/mode`, { kind: 'subject' })
  const config = useQuery<{ readonly compatibilityLevel: string }>(`${runtime.basePath}/config`, { kind: 'subject' })
  const error = subjects.error.value ?? mode.error.value ?? config.error.value
  const leadership = current(status)
  return html`<section aria-label=${`Registry ${runtime.name}`}>
    <h2>Registry <small>${runtime.name}</small></h2>
    ${error && html`<p class="error" role="alert">${error.message}</p>`}
    <ul class="counts">
      <li>
        <a href=${hrefOf(['subjects'], { runtime: runtime.name })}>${subjects.data.value ? counted(subjects.data.value.length, 'subject') : '… subjects'}</a>
      </li>
      <li>mode ${mode.data.value?.mode ?? '…'}</li>
      <li>compatibility ${config.data.value?.compatibilityLevel ?? '…'}</li>
      ${leadership && html`<li>leader: ${leadership.isLeader ? 'this instance' : (leadership.leader ?? 'none')}</li>`}
    </ul>
    ${subjects.data.value?.length === 0 && html`<${FirstStep} of="subjects" runtime=${runtime} />`}
    <${ImportWindows} runtime=${runtime} />
  </section>`
}

type DeclaredResourcesProps = {
  readonly resources: readonly ReportedResource[] | undefined
  readonly state: OperatorReport | undefined
  readonly error: string | undefined
}

function DeclaredResources({ resources, state, error }: DeclaredResourcesProps) {
  const notReady = resources?.filter(needsAttention).length
  const drifting = resources?.filter(({ drift }) => drift !== undefined).length
  const { leadership } = state ?? {}
  const leader = leadership?.leader
  return html`<section aria-label="Resources">
    <h2>Resources</h2>
    ${error !== undefined && html`<p class="error" role="alert">${error}</p>`}
    <ul class="counts">
      <li><a href=${hrefOf(['resources'])}>${resources?.length ?? '…'} resources</a></li>
      <li><a href=${hrefOf(['resources'], { ready: 'False' })}>${notReady ?? '…'} not Ready</a></li>
      <li>${drifting ?? '…'} differ from their runtime</li>
      ${
        leadership &&
        html`<li>active operator: ${leader === undefined ? 'none' : leader}${leader === leadership.identity && ' (this replica)'}</li>`
      }
    </ul>
  </section>`
}
