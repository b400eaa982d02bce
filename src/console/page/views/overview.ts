import { computed } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { ImportWindows } from '../components/import-windows.ts'
import { StateBadge } from '../components/state-badge.ts'
import { connectorRows, sortConnectors } from '../connector-rows.ts'
import { html } from '../html.ts'
import { hrefOf } from '../location.ts'
import { useQuery } from '../queries.ts'
import type { ConsoleSession, Runtime } from '../session.ts'
import type { ExpandedConnectors } from '../wire.ts'
import { ResourcesThatNeedAttention } from './resources.ts'

/** How many connectors that need attention are listed; a link leads to the others. */
const SHOWN_MAX = 20

/** What runs and what is wrong in all runtimes, failed first. */
export function Overview({ session }: { readonly session: ConsoleSession }) {
  return html`<h1>Overview</h1>
    ${session.hasResources && html`<${ResourcesThatNeedAttention} />`}
    ${session.runtimes.map((runtime) =>
      runtime.kind === 'worker'
        ? html`<${WorkerOverview} key=${`worker ${runtime.name}`} runtime=${runtime} />`
        : html`<${RegistryOverview} key=${`registry ${runtime.name}`} runtime=${runtime} />`,
    )}`
}

function WorkerOverview({ runtime }: { readonly runtime: Runtime }) {
  const { data, error } = useQuery<ExpandedConnectors>(`${runtime.basePath}/connectors?expand=info&expand=status`, {
    kind: 'connector',
  })
  const rows = useMemo(() => computed(() => sortConnectors(connectorRows(data.value ?? {}), '')), [data])
  const counts = Map.groupBy(rows.value, ({ state }) => state)
  const needAttention = rows.value.filter(({ state }) => state === 'FAILED' || state === 'UNASSIGNED')
  const workers = Map.groupBy(
    rows.value.flatMap((row) => row.workers),
    (worker) => worker,
  )
  const filters = { runtime: runtime.name }
  return html`<section aria-label=${`Worker ${runtime.name}`}>
    <h2>Worker <small>${runtime.name}</small></h2>
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    <ul class="counts">
      <li><a href=${hrefOf(['connectors'], filters)}>${rows.value.length} connectors</a></li>
      ${[...counts].map(
        ([state, ofState]) => html`<li key=${state}>
          <a href=${hrefOf(['connectors'], { ...filters, state })}><${StateBadge} state=${state} /> ${ofState.length}</a>
        </li>`,
      )}
    </ul>
    ${
      needAttention.length > 0 &&
      html`<h3>Needs attention</h3>
        <ul class="attention">
          ${needAttention.slice(0, SHOWN_MAX).map(
            ({ name, state, reason }) => html`<li key=${name}>
              <${StateBadge} state=${state} />
              <a href=${hrefOf(['connectors', name], filters)}>${name}</a>
              <span class="reason">${reason || nextStepOf(state)}</span>
            </li>`,
          )}
        </ul>
        ${
          needAttention.length > SHOWN_MAX &&
          html`<a href=${hrefOf(['connectors'], filters)}>${needAttention.length - SHOWN_MAX} more</a>`
        }`
    }
    ${
      workers.size > 0 &&
      html`<h3>Workers of the group</h3>
        <ul>
          ${[...workers].map(
            ([worker, running]) => html`<li key=${worker}>
              <a href=${hrefOf(['connectors'], { ...filters, worker })}>${worker}</a>: ${running.length} connectors
            </li>`,
          )}
        </ul>`
    }
  </section>`
}

function nextStepOf(state: string): string {
  return state === 'UNASSIGNED'
    ? 'No worker runs it: the group rebalances, or its workers do not join. Check the log of the workers.'
    : ''
}

function RegistryOverview({ runtime }: { readonly runtime: Runtime }) {
  const subjects = useQuery<readonly string[]>(`${runtime.basePath}/subjects?subjectPrefix=:*:`, { kind: 'subject' })
  const mode = useQuery<{ readonly mode: string }>(`${runtime.basePath}/mode`, { kind: 'subject' })
  const config = useQuery<{ readonly compatibilityLevel: string }>(`${runtime.basePath}/config`, { kind: 'subject' })
  const error = subjects.error.value ?? mode.error.value ?? config.error.value
  return html`<section aria-label=${`Registry ${runtime.name}`}>
    <h2>Registry <small>${runtime.name}</small></h2>
    ${error && html`<p class="error" role="alert">${error.message}</p>`}
    <ul class="counts">
      <li>
        <a href=${hrefOf(['subjects'], { runtime: runtime.name })}>${subjects.data.value?.length ?? '…'} subjects</a>
      </li>
      <li>mode ${mode.data.value?.mode ?? '…'}</li>
      <li>compatibility ${config.data.value?.compatibilityLevel ?? '…'}</li>
    </ul>
    <${ImportWindows} runtime=${runtime} />
  </section>`
}
