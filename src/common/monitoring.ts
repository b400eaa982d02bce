/**
 * The form of the alerts and dashboards that each program declares beside its metrics. The chart, the rules file of
 * `examples/prometheus` and the Grafana dashboards are generated from them.
 */

/** `critical` pages somebody at any time, `warning` is handled in working hours, `info` explains what else happened. */
export type AlertSeverity = 'critical' | 'warning' | 'info'

/** Limits that users set, with their defaults. A rule refers to them as `$NAME`. */
export const ALERT_LIMITS = {
  expectedConnectors: 0,
  expectedTasks: 0,
  sinkLag: 100_000,
  sourceRetainedBytes: 10 * 2 ** 30,
} as const
export type AlertLimit = keyof typeof ALERT_LIMITS

/** A condition of Prometheus. `docs/alerts.md` has an entry for each. */
export type AlertRule = {
  readonly alert: string
  readonly severity: AlertSeverity
  /** PromQL. Each metric is followed by `{}`, to which the labels of one installation are added; `$jobs` matches its jobs. */
  readonly expr: string
  /** How long the condition holds before the alert fires, as in PromQL. */
  readonly for: string
  readonly summary: string
  /** A template of Prometheus. */
  readonly description: string
  /** The rule exists only if this limit is not 0. */
  readonly onlyWith?: AlertLimit
}

/** A dashboard of Grafana. */
export type Dashboard = {
  readonly title: string
  /** A metric that exists in each namespace with this program. */
  readonly present: string
  readonly panels: readonly DashboardPanel[]
}

export type DashboardPanel = {
  readonly title: string
  /** A unit of Grafana. */
  readonly unit: 'short' | 'ops' | 'reqps' | 'rowsps' | 's' | 'ms' | 'bytes' | 'percentunit'
  readonly about?: string
  /** PromQL by legend, with `{}` as in `AlertRule`. */
  readonly queries: Readonly<Record<string, string>>
}
