import { stringify } from 'yaml'
import { ALERT_LIMITS, type AlertLimit, type AlertRule, type Dashboard } from '../../src/common/monitoring.ts'
import { PROGRAM_ALERTS } from '../../src/http/program-alerts.ts'
import { OPERATOR_ALERTS } from '../../src/operator/operator-alerts.ts'
import { OPERATOR_DASHBOARD } from '../../src/operator/operator-dashboard.ts'
import { REGISTRY_ALERTS } from '../../src/registry/metrics/registry-alerts.ts'
import { REGISTRY_DASHBOARD } from '../../src/registry/metrics/registry-dashboard.ts'
import { WORKER_ALERTS } from '../../src/worker/observability/worker-alerts.ts'
import { WORKER_DASHBOARD } from '../../src/worker/observability/worker-dashboard.ts'

/** The alerts of each program, and of all of them. */
export const ALERT_GROUPS: Readonly<Record<string, readonly AlertRule[]>> = {
  'weir.programs': PROGRAM_ALERTS,
  'weir.operator': OPERATOR_ALERTS,
  'weir.registry': REGISTRY_ALERTS,
  'weir.worker': WORKER_ALERTS,
}
export const ALERTS: readonly AlertRule[] = Object.values(ALERT_GROUPS).flat()

export const DASHBOARDS: Readonly<Record<string, Dashboard>> = {
  operator: OPERATOR_DASHBOARD,
  registry: REGISTRY_DASHBOARD,
  worker: WORKER_DASHBOARD,
}

export type RuleOptions = {
  readonly limits?: Readonly<Partial<Record<AlertLimit, number>>>
  /** A regular expression that matches the jobs of Weir. */
  readonly jobs?: string
  /** Replaces each duration of conditions and ranges, so that tests need not wait for the real ones. */
  readonly timed?: (duration: string) => string
}

export type PrometheusRule = {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}
export type PrometheusRules = {
  readonly groups: readonly { readonly name: string; readonly rules: readonly PrometheusRule[] }[]
}

const RUNBOOK = 'docs/alerts.md'

/** The rules of one installation whose metrics are the only ones of Weir in its Prometheus. */
export function prometheusRules({ limits = {}, jobs = 'weir.*', timed = (same) => same }: RuleOptions = {}) {
  const all = { ...ALERT_LIMITS, ...limits }
  const values: readonly (readonly [string, string])[] = [
    ...Object.entries(all).map(([name, value]) => [name, String(value)] as const),
    ['jobs', jobs],
  ]
  const filled = (text: string) => values.reduce((kept, [name, value]) => kept.replaceAll(`$${name}`, value), text)
  const ruleOf = (rule: AlertRule): PrometheusRule => ({
    alert: rule.alert,
    expr: filled(selecting(rule.expr, '').replaceAll(/\[(\w+)\]/g, (_, range: string) => `[${timed(range)}]`)),
    for: timed(rule.for),
    labels: { severity: rule.severity },
    annotations: {
      summary: rule.summary,
      description: filled(rule.description),
      runbook_url: `${RUNBOOK}#${rule.alert.toLowerCase()}`,
    },
  })
  const groups = Object.entries(ALERT_GROUPS).map(([name, rules]) => ({
    name,
    rules: rules.filter(({ onlyWith }) => onlyWith === undefined || all[onlyWith] !== 0).map(ruleOf),
  }))
  return { groups } satisfies PrometheusRules
}

/** The expression with label matchers for each metric. */
export function selecting(expr: string, matchers: string): string {
  return expr.replaceAll(/\b([a-zA-Z_:][\w:]*)\{([^}]*)\}/g, (_, metric: string, own: string) => {
    const both = [matchers, own].filter((part) => part !== '').join(',')
    return both === '' ? metric : `${metric}{${both}}`
  })
}

/** Files that are generated from the alerts and dashboards. Paths are relative to `charts`. */
export function monitoringFiles(): readonly { readonly path: string; readonly text: string }[] {
  const source = '# Generated from the alerts in src by test/charts/generated.test.ts.'
  const text = (value: unknown) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
  return [
    { path: 'weir/files/alerts.yaml', text: `${source}\n${text(chartAlerts())}` },
    { path: '../examples/prometheus/weir.rules.yaml', text: `${source}\n${text(prometheusRules())}` },
    ...Object.entries(DASHBOARDS).map(([name, board]) => ({
      path: `weir/files/dashboards/${name}.json`,
      text: `${JSON.stringify(grafanaDashboard(name, board), null, 2)}\n`,
    })),
  ]
}

/** The table of all alerts in the runbook. */
export function alertsTable(): string {
  const rows = ALERTS.map(({ alert, severity, expr, for: pending }) => {
    const condition = selecting(expr, '').replaceAll('|', '\\|')
    return `| [${alert}](#${alert.toLowerCase()}) | ${severity} | \`${condition}\` | ${pending} |`
  })
  return ['| alert | severity | condition | for |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

/** The rules before the chart replaces the namespace, the jobs and the limits, which begin with `$`. */
function chartAlerts() {
  const groups = Object.entries(ALERT_GROUPS).map(([name, rules]) => ({
    name,
    rules: rules.map((rule) => ({ ...rule, expr: selecting(rule.expr, 'namespace="$namespace"') })),
  }))
  return { limits: Object.keys(ALERT_LIMITS), groups }
}

/** A dashboard in the JSON that Grafana imports. Without namespaces, the variable is empty and matches all series. */
export function grafanaDashboard(name: string, { title, present, panels }: Dashboard) {
  const datasource = { type: 'prometheus', uid: '${datasource}' }
  return {
    uid: `weir-${name}`,
    title,
    tags: ['weir'],
    schemaVersion: 39,
    time: { from: 'now-6h', to: 'now' },
    refresh: '30s',
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        { name: 'namespace', type: 'query', datasource, query: `label_values(${present}, namespace)`, refresh: 2 },
      ],
    },
    panels: panels.map(({ title, unit, about = '', queries }, at) => ({
      id: at + 1,
      type: 'timeseries',
      title,
      description: about,
      datasource,
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      gridPos: { h: 8, w: 12, x: 12 * (at % 2), y: 8 * Math.floor(at / 2) },
      targets: Object.entries(queries).map(([legendFormat, expr], index) => ({
        refId: `R${index}`,
        expr: selecting(expr, 'namespace="$namespace"'),
        legendFormat,
      })),
    })),
  }
}
