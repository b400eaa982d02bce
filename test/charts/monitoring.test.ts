import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { collectDefaultMetrics } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createMetrics } from '../../src/common/metrics-registry.ts'
import { ALERT_LIMITS } from '../../src/common/monitoring.ts'
import { registerReadiness } from '../../src/http/readiness-metrics.ts'
import { registerOperatorGauges, registerOperatorMetrics } from '../../src/operator/operator-metrics.ts'
import { registryMetrics } from '../../src/registry/metrics/registry-metrics.ts'
import { registerJavaHostMetrics } from '../../src/worker/observability/java-host-metrics.ts'
import { registerWorkerMetrics } from '../../src/worker/observability/worker-metrics.ts'
import { ALERT_HISTORIES } from '../support/alert-histories.ts'
import { CHARTS, chartFile } from '../support/charts.ts'
import { ALERTS, DASHBOARDS, grafanaDashboard, prometheusRules, selecting } from '../support/monitoring.ts'

/** Every family that the programs expose, and its labels. */
const exposed = new Map(
  (() => {
    const metrics = createMetrics()
    collectDefaultMetrics({ register: metrics })
    registerReadiness(metrics, 'worker', () => true)
    registerOperatorMetrics(metrics)
    registerOperatorGauges(metrics, {
      ...{ isLeader: () => true, concurrency: 1, queue: () => undefined },
      ...{ resources: () => [], watches: () => [], pollLags: () => [] },
    })
    registryMetrics(
      metrics,
      () => true,
      () => 0,
    )
    const starts = { connectorAttempts: 0, connectorFailures: 0, taskAttempts: 0, taskFailures: 0 }
    registerWorkerMetrics(metrics, {
      worker: () => ({ connectors: [], tasks: 0, starts }),
      group: () => undefined,
      tasks: () => [],
    })
    registerJavaHostMetrics(metrics, () => 0)
    return metrics.getMetricsAsArray() as unknown as readonly { name: string; labelNames: readonly string[] }[]
  })().map(({ name, labelNames }) => [name, labelNames]),
)
/** Made by Prometheus itself for each target. */
exposed.set('up', [])
/** Labels that a scrape adds, and the label of histogram buckets. */
const ADDED = ['namespace', 'pod', 'job', 'instance', 'le']

type Query = { readonly title: string; readonly expr: string; readonly labels: readonly string[] }

const metricNames = ({ expr }: Query) =>
  [...expr.matchAll(/([a-zA-Z_:][\w:]*)\{/g)].map(([, name]) =>
    exposed.has(name!) ? name! : name!.replace(/_bucket$/, ''),
  )

function checkQueries(queries: readonly Query[]): void {
  expect(queries.length).toBeGreaterThan(5)
  expect(queries.filter((query) => metricNames(query).length === 0).map(({ title }) => title)).toEqual([])
  const unknown = queries.flatMap((query) => metricNames(query).filter((name) => !exposed.has(name)))
  expect(unknown).toEqual([])
  const unknownLabels = queries.flatMap((query) => {
    const known = new Set([...ADDED, ...metricNames(query).flatMap((name) => exposed.get(name) ?? [])])
    const grouped = [...query.expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, names]) => names!.split(', '))
    const matched = [...query.expr.matchAll(/[{,](\w+)(?:=|!=|=~|!~)"/g)].map(([, label]) => label!)
    return [...grouped, ...matched, ...query.labels]
      .filter((label) => !known.has(label))
      .map((label) => `${query.title}: ${label}`)
  })
  expect(unknownLabels).toEqual([])
}

describe('the alerts', () => {
  it('use only metrics and labels that exist', () => {
    checkQueries(
      ALERTS.map(({ alert, expr, description }) => {
        const labels = [...description.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!)
        return { title: alert, expr, labels }
      }),
    )
  })

  it('have an entry of the runbook each, in the order of their declaration, and no other', () => {
    const page = readFileSync(join(CHARTS, '../docs/alerts.md'), 'utf8')
    const entries = [...page.matchAll(/^## (\S+)$/gm)].map(([, title]) => title!)
    expect(entries).toEqual(ALERTS.map(({ alert }) => alert))
  })

  it('each fire and resolve in a history that promtool checks', () => {
    const tested = ALERT_HISTORIES.filter(({ fires, quiet }) => fires.length > 0 && Math.max(...quiet) > fires.at(-1)!)
    expect(new Set(tested.map(({ alert }) => alert))).toEqual(new Set(ALERTS.map(({ alert }) => alert)))
  })

  it('page only for faults that last for two minutes or more', () => {
    const hasty = ALERTS.filter((rule) => rule.severity === 'critical' && !/^\d{1,2}m$/.test(rule.for))
    expect(hasty).toEqual([])
    expect(ALERTS.filter((rule) => rule.severity === 'critical' && Number.parseInt(rule.for, 10) < 2)).toEqual([])
  })

  it('have limits whose defaults are those of the chart', () => {
    const { monitoring } = parse(chartFile('weir/values.yaml')) as { monitoring: { alerts: object } }
    expect(monitoring.alerts).toEqual({ ...ALERT_LIMITS, runbookUrl: 'docs/alerts.md' })
  })

  it('select the series of one installation by label matchers, which are added to those of a rule', () => {
    expect(selecting('rate(a_total{}[5m]) / on (x) b{y="z"}', 'namespace="n"')).toBe(
      'rate(a_total{namespace="n"}[5m]) / on (x) b{namespace="n",y="z"}',
    )
    expect(selecting('sum(a{}) > b{y="z"}', '')).toBe('sum(a) > b{y="z"}')
  })

  it('are generated with other durations in conditions and ranges, for tests', () => {
    const { groups } = prometheusRules({ timed: () => '7s' })
    const rules = groups.flatMap((group) => group.rules)
    expect(rules.filter((rule) => rule.for !== '7s')).toEqual([])
    expect(rules.flatMap(({ expr }) => expr.match(/\[(?!7s\])[^\]]*\]/g) ?? [])).toEqual([])
  })
})

describe('the dashboards', () => {
  it.each(Object.entries(DASHBOARDS))('of the %s use only metrics and labels that exist', (_, { present, panels }) => {
    expect(exposed.has(present)).toBe(true)
    checkQueries(
      panels.flatMap(({ title, queries }) =>
        Object.entries(queries).map(([legend, expr]) => {
          const labels = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!)
          return { title, expr, labels }
        }),
      ),
    )
  })

  it.each(Object.entries(DASHBOARDS))('of the %s have the shape that Grafana imports', (name, board) => {
    const { uid, panels, templating } = grafanaDashboard(name, board)
    expect(uid).toMatch(/^[a-zA-Z0-9-]{1,40}$/)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const places = panels.map(({ gridPos: { x, y, w } }) => ({ end: x + w, place: `${x} ${y}` }))
    expect(places.filter(({ end }) => end > 24)).toEqual([])
    expect(new Set(places.map(({ place }) => place)).size).toBe(panels.length)
    const variables = new Set(templating.list.map((variable) => variable.name))
    const used = JSON.stringify(panels)
      .match(/\$\{?\w+/g)
      ?.map((text) => text.replace(/^\$\{?/, ''))
    expect(new Set(used)).toEqual(variables)
    for (const { targets } of panels) {
      expect(targets.length).toBeGreaterThan(0)
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
    }
  })
})
