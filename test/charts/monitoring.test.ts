import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { collectDefaultMetrics } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createMetrics } from '../../src/common/metrics-registry.ts'
import { registerOperatorGauges, registerOperatorMetrics } from '../../src/operator/operator-metrics.ts'
import { registryMetrics } from '../../src/registry/metrics/registry-metrics.ts'
import { registerWorkerMetrics } from '../../src/worker/observability/worker-metrics.ts'
import { CHARTS, chartFile } from '../support/charts.ts'

/** Every family that the programs expose, and its labels. */
const exposed = new Map(
  (() => {
    const metrics = createMetrics()
    collectDefaultMetrics({ register: metrics })
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
    return metrics.getMetricsAsArray() as unknown as readonly { name: string; labelNames: readonly string[] }[]
  })().map(({ name, labelNames }) => [name, labelNames]),
)
/** Labels that a scrape adds, and the label of histogram buckets. */
const ADDED = ['namespace', 'pod', 'le']

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
    const grouped = [...query.expr.matchAll(/ by \(([^)]*)\)/g)].flatMap(([, names]) => names!.split(', '))
    return [...grouped, ...query.labels].filter((label) => !known.has(label)).map((label) => `${query.title}: ${label}`)
  })
  expect(unknownLabels).toEqual([])
}

describe('monitoring files of the chart', () => {
  it('use only existing metrics and labels in the alerts', () => {
    // Splits the text, which is no YAML before Helm has filled in the values.
    const alerts = chartFile('weir/files/alerts.yaml')
      .split(/^ {6}- alert: /m)
      .slice(1)
    checkQueries(
      alerts.map((text) => ({
        title: text.split('\n')[0]!,
        expr: text.slice(text.indexOf('expr:'), text.indexOf('for:')),
        labels: [...text.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!),
      })),
    )
  })

  const boards = readdirSync(join(CHARTS, 'weir/files/dashboards'))

  it.each(boards)('use only existing metrics and labels in the dashboard %s', (board) => {
    const { present, panels } = parse(chartFile(`weir/files/dashboards/${board}`)) as {
      present: string
      panels: readonly { title: string; show: Readonly<Record<string, string>> }[]
    }
    expect(exposed.has(present)).toBe(true)
    checkQueries(
      panels.flatMap(({ title, show }) =>
        Object.entries(show).map(([legend, expr]) => {
          const labels = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!)
          return { title, expr, labels }
        }),
      ),
    )
  })
})
