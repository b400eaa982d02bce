import { LocalTime } from '../components/local-time.ts'
import { html } from '../html.ts'
import { declaringResourceOf } from '../resource-rows.ts'
import { type Runtime, useSession } from '../session.ts'
import { useConnectorMetrics } from './connector-metrics.ts'
import { useResources } from './resources.ts'

type RestartsProps = { readonly runtime: Runtime; readonly name: string }

/** When the tasks were started last, and what the operator has restarted and will restart. */
export function ConnectorRestarts({ runtime, name }: RestartsProps) {
  const { data } = useConnectorMetrics(runtime, name)
  const { hasResources = false } = useSession().data.value ?? {}
  const started = (data.value?.workers ?? []).flatMap(({ worker, tasks }) =>
    tasks.map(({ task, startedMs }) => ({ worker, task, startedMs })),
  )
  const last = started.toSorted((a, b) => b.startedMs - a.startedMs)[0]
  return html`
    ${last && html`<p>Last start: <${LocalTime} ms=${last.startedMs} /> (task ${last.task} on ${last.worker}).</p>`}
    ${hasResources && html`<${AutoRestarts} runtime=${runtime} name=${name} />`}
  `
}

function AutoRestarts({ runtime, name }: RestartsProps) {
  const { data } = useResources()
  const wanted = { kind: 'Connector', runtime: runtime.name, object: name }
  const { autoRestart } = declaringResourceOf(data.value ?? [], wanted) ?? {}
  if (autoRestart === undefined) return null
  const { count, lastRestartTime, lastRestartReason, nextRestartTime, exhausted } = autoRestart
  return html`
    ${lastRestartTime && html`<p>Last automatic restart: <${LocalTime} ms=${Date.parse(lastRestartTime)} />, number ${count}. ${lastRestartReason && `Reason: ${lastRestartReason}`}</p>`}
    ${nextRestartTime && html`<p>Next automatic restart: <${LocalTime} ms=${Date.parse(nextRestartTime)} />.</p>`}
    ${exhausted && html`<p class="error">It is not restarted any more: the limit of spec.autoRestart.maxRestarts is reached.</p>`}
  `
}
