import { counted, countedOf } from '../../../common/counted.ts'
import { request } from '../api.ts'
import { ActionButton } from '../components/action-button.ts'
import { valueInto } from '../components/log-in.ts'
import { sentence } from '../components/sentence.ts'
import { StateBadge } from '../components/state-badge.ts'
import { firstLine } from '../connector-rows.ts'
import { html } from '../html.ts'
import { pageLocation, setFilter } from '../location.ts'
import { useRights } from '../session.ts'
import type { ConnectorStatusInfo, InstanceStatus } from '../wire.ts'

type InstancesProps = { readonly path: string; readonly name: string; readonly status: ConnectorStatusInfo }

/** More rows are shown when the search narrows them. */
const TASKS_MAX = 200

/** The connector and its tasks with their states, workers and traces. The search is in the URL. */
export function ConnectorInstances({ path, name, status }: InstancesProps) {
  const may = useRights('connectors', name)
  const search = (pageLocation.value.filters['task'] ?? '').toLowerCase()
  const rows: readonly { readonly title: string; readonly id?: number; readonly instance: InstanceStatus }[] = [
    { title: 'connector', instance: status.connector },
    ...status.tasks
      .toSorted((a, b) => Number(b.state === 'FAILED') - Number(a.state === 'FAILED') || a.id - b.id)
      .map((task) => ({ title: `task ${task.id}`, id: task.id, instance: task })),
  ]
  const found = rows.filter(({ title, instance: { state, worker_id, trace = '' } }) =>
    `${title}\n${state}\n${worker_id}\n${trace}`.toLowerCase().includes(search),
  )
  const hasActions = status.tasks.length > 0 && may('lifecycle')
  return html`<section aria-labelledby="tasks">
    <h2 id="tasks">Tasks</h2>
    <form class="filters" role="search" aria-label="Tasks and traces" onSubmit=${(event: Event) => event.preventDefault()}>
      <label>Search tasks and traces <input type="search" value=${pageLocation.value.filters['task'] ?? ''}
        onInput=${valueInto((value) => setFilter('task', value))} /></label>
      <span role="status">${countedOf(found.length, rows.length)}</span>
    </form>
    <div class="scrolled">
      <table class="instances" aria-label=${`Tasks of ${name}`}>
        <thead><tr><th scope="col">Part</th><th scope="col">State</th><th scope="col">Worker</th>${hasActions && html`<th scope="col">Actions</th>`}</tr></thead>
        <tbody>
          ${found.slice(0, TASKS_MAX).map(
            ({ title, id, instance }) => html`<tr key=${title}>
                <th scope="row">${title}</th>
                <td data-title="State"><${StateBadge} state=${instance.state} /></td>
                <td data-title="Worker">${instance.worker_id}</td>
                ${
                  hasActions &&
                  html`<td data-title="Actions">${
                    id !== undefined &&
                    html`<${ActionButton} object=${`task ${id} of ${name}`} run=${() => request('POST', `${path}/tasks/${id}/restart`)}
                    done=${sentence`Restarted task ${id} of ${name}`}>Restart<//>`
                  }</td>`
                }
              </tr>
              ${
                instance.trace &&
                html`<tr key=${`${title} trace`}><td colspan=${hasActions ? 4 : 3}><${Trace} of=${title} trace=${instance.trace} search=${search}
                  isOpen=${instance.state === 'FAILED'} /></td></tr>`
              }`,
          )}
        </tbody>
      </table>
    </div>
    ${found.length > TASKS_MAX && html`<p>${found.length - TASKS_MAX} more: search to find them.</p>`}
    ${status.tasks.length === 0 && html`<p>The connector has no tasks: it is stopped, has failed, or is being started.</p>`}
  </section>`
}

type TraceProps = { readonly of: string; readonly trace: string; readonly search: string; readonly isOpen: boolean }

/** The causes of a trace are visible; the frames are folded. Lines that match the search are marked. */
function Trace({ of, trace, search, isOpen }: TraceProps) {
  const lines = trace.trimEnd().split('\n')
  const causes = lines.filter((line, at) => at > 0 && /^\s*(?:Caused by|cause):/i.test(line))
  const isFound = (line: string) => search !== '' && line.toLowerCase().includes(search)
  return html`<p class=${isOpen ? 'error' : ''}>${firstLine(trace)}</p>
    ${causes.map((line) => html`<p class="reason">${line.trim()}</p>`)}
    <details open=${lines.some(isFound) || (isOpen && lines.length <= 8)}>
      <summary>Trace of ${counted(lines.length, 'line')}<span class="hidden">: ${of}</span></summary>
      <pre tabindex="0" role="group" aria-label=${`Trace of ${of}`}>${lines.map((line) => html`${isFound(line) ? html`<mark>${line}</mark>` : line}${'\n'}`)}</pre>
    </details>`
}
