import { request } from '../api.ts'
import { ActionButton } from '../components/action-button.ts'
import { StateBadge } from '../components/state-badge.ts'
import { html } from '../html.ts'
import { hrefOf } from '../location.ts'
import { useQuery } from '../queries.ts'
import { type Runtime, useRights } from '../session.ts'
import type { Connector, ConnectorStatusInfo, InstanceStatus } from '../wire.ts'

type ConnectorProps = { readonly runtime: Runtime; readonly name: string }

/** One connector: its state and tasks with their traces, its configuration, and what may be done with it. */
export function ConnectorView({ runtime, name }: ConnectorProps) {
  const path = `${runtime.basePath}/connectors/${encodeURIComponent(name)}`
  const changes = { kind: 'connector', name } as const
  const status = useQuery<ConnectorStatusInfo>(`${path}/status`, changes)
  const info = useQuery<Connector>(path, changes)
  const error = status.error.value ?? info.error.value
  return html`
    <p><a href=${hrefOf(['connectors'], { runtime: runtime.name })}>Connectors</a></p>
    <h1>${name} ${status.data.value && html`<${StateBadge} state=${status.data.value.connector.state} />`}</h1>
    ${error && html`<p class="error" role="alert">${error.message}</p>`}
    ${status.data.value && html`<${Actions} path=${path} name=${name} status=${status.data.value} />`}
    ${status.data.value && html`<${Instances} path=${path} name=${name} status=${status.data.value} />`}
    ${
      info.data.value &&
      html`<h2>Configuration</h2>
        <dl class="config">
          ${Object.entries(info.data.value.config)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, value]) => html`<dt>${key}</dt><dd>${value}</dd>`)}
        </dl>`
    }
  `
}

type StatusProps = { readonly path: string; readonly name: string; readonly status: ConnectorStatusInfo }

function Actions({ path, name, status }: StatusProps) {
  const may = useRights('connectors', name)
  if (!may('lifecycle')) return null
  const { state } = status.connector
  const put = (action: string) => () => request('PUT', `${path}/${action}`)
  return html`<div class="actions">
    ${
      state === 'PAUSED' || state === 'STOPPED'
        ? html`<${ActionButton} run=${put('resume')} done=${`Resumed ${name}.`}>Resume<//>`
        : html`<${ActionButton} run=${put('pause')} done=${`Paused ${name}.`}>Pause<//>`
    }
    ${
      state !== 'STOPPED' &&
      html`<${ActionButton} run=${put('stop')} done=${`Stopped ${name}.`}
        question=${`Stop ${name}? Its tasks end. Its configuration and offsets are kept.`}>Stop<//>`
    }
    <${ActionButton} run=${() => request('POST', `${path}/restart?includeTasks=true&onlyFailed=true`)}
      done=${`Restarted what has failed of ${name}.`}>Restart failed<//>
    <${ActionButton} run=${() => request('POST', `${path}/restart?includeTasks=true`)}
      done=${`Restarted ${name} and its tasks.`}
      question=${`Restart ${name} and all ${status.tasks.length} tasks?`}>Restart all<//>
    ${
      may('delete') &&
      html`<${ActionButton} isDangerous=${true} run=${() => request('DELETE', path)} done=${`Deleted ${name}.`}
        question=${`Delete ${name}? Its configuration is lost. Its offsets are kept by Kafka Connect for a connector of the same name.`}
        >Delete<//>`
    }
  </div>`
}

function Instances({ path, name, status }: StatusProps) {
  const may = useRights('connectors', name)
  return html`<h2>Tasks</h2>
    <${Instance} title="connector" instance=${status.connector} />
    ${status.tasks.map(
      (task) => html`<${Instance} key=${task.id} title=${`task ${task.id}`} instance=${task}
        action=${
          may('lifecycle') &&
          html`<${ActionButton} run=${() => request('POST', `${path}/tasks/${task.id}/restart`)}
            done=${`Restarted task ${task.id} of ${name}.`}>Restart<//>`
        } />`,
    )}`
}

type InstanceProps = { readonly title: string; readonly instance: InstanceStatus; readonly action?: unknown }

function Instance({ title, instance, action }: InstanceProps) {
  const { state, worker_id: worker, trace } = instance
  return html`<div class="instance">
    <p><strong>${title}</strong> <${StateBadge} state=${state} /> <span>${worker}</span> ${action}</p>
    ${
      trace &&
      html`<details open=${state === 'FAILED'}>
        <summary>${trace.split('\n', 1)[0]}</summary>
        <pre tabindex="0">${trace}</pre>
      </details>`
    }
  </div>`
}
