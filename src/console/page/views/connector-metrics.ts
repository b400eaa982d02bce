import { LinePlot } from '../components/line-plot.ts'
import { html } from '../html.ts'
import { type MetricsResponse, metricsPlots } from '../metrics-plots.ts'
import { pathSegment } from '../path-segment.ts'
import { useQuery } from '../queries.ts'
import type { Runtime } from '../session.ts'

type MetricsProps = { readonly runtime: Runtime; readonly name: string; readonly type: string }

/** The metrics of a connector in the last hour, of all workers that run its tasks. */
export function MetricsView({ runtime, name, type }: MetricsProps) {
  const { data, error } = useConnectorMetrics(runtime, name)
  const isUnsupported = error.value?.status === 404
  const plots = metricsPlots(data.value ?? { workers: [], missing: [] }, type)
  const workers = data.value?.workers.filter(({ times }) => times !== undefined) ?? []
  return html`<section aria-labelledby="metrics">
    <h2 id="metrics">The last hour</h2>
    ${isUnsupported && html`<p>This runtime keeps no metrics for the console. Read its metrics with Prometheus or JMX.</p>`}
    ${error.value && !isUnsupported && html`<p class="error" role="alert">${error.value.message}</p>`}
    ${data.value === undefined && !error.value && html`<p>Loading …</p>`}
    ${
      data.value &&
      plots.length === 0 &&
      html`<p>There are no metrics: no task of the connector has run in the last hour, or it was started in the last 10 s.</p>`
    }
    ${plots.length > 0 && html`<p class="reason">Recorded every 10 s by ${workers.map(({ worker }) => worker).join(', ')}.</p>`}
    ${
      workers.some(({ isIncomplete }) => isIncomplete) &&
      html`<p role="status">The worker runs more connectors than it keeps metrics of. Those of this one are kept from now on.</p>`
    }
    ${data.value?.missing.map((reason) => html`<p key=${reason} class="error">Without ${reason}.</p>`)}
    <div class="plots">${plots.map((plot) => html`<${LinePlot} key=${plot.title} plot=${plot} />`)}</div>
  </section>`
}

export function useConnectorMetrics({ basePath }: Runtime, name: string) {
  return useQuery<MetricsResponse>(`${basePath}/ui/api/connectors/${pathSegment(name)}/metrics`)
}
