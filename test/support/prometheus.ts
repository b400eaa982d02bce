import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { freePort } from '../env/ports.ts'
import { startServer, untilReady } from '../env/process.ts'
import type { PrometheusAddress } from '../env/prometheus.ts'
import { partDirectory } from '../env/workspace.ts'
import { responds } from './cli.ts'
import type { PrometheusRules } from './monitoring.ts'
import { until } from './until.ts'

const WAIT = { everyMs: 200, timeoutMs: 240_000 }
const READY_TIMEOUT_MS = 120_000
const SHUTDOWN_MS = 10_000

export type ScrapeJob = {
  readonly name: string
  /** `http://HOST:PORT` */
  readonly url: string
  /** A regular expression for the names of the metrics that are kept. Default: all. */
  readonly keep?: string
}

type Sample = { readonly metric: Readonly<Record<string, string>>; readonly value: readonly [number, string] }

/** Starts a Prometheus for the running test, which scrapes the jobs and evaluates the rules at this interval. */
export async function startPrometheus(
  { server }: PrometheusAddress,
  options: { readonly rules: PrometheusRules; readonly jobs: readonly ScrapeJob[]; readonly intervalMs: number },
) {
  const directory = partDirectory('prometheus')
  const url = `http://127.0.0.1:${await freePort()}`
  const interval = `${options.intervalMs}ms`
  const configuration = {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: ['rules.yaml'],
    scrape_configs: options.jobs.map(({ name, url, keep = '.*' }) => ({
      job_name: name,
      static_configs: [{ targets: [new URL(url).host] }],
      metric_relabel_configs: [{ source_labels: ['__name__'], regex: keep, action: 'keep' }],
    })),
  }
  writeFileSync(join(directory, 'rules.yaml'), stringify(options.rules))
  writeFileSync(join(directory, 'prometheus.yaml'), stringify(configuration))
  const logFile = join(directory, 'output.log')
  const args = [
    `--config.file=${join(directory, 'prometheus.yaml')}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=${new URL(url).host}`,
  ]
  const running = startServer({ file: server, args, directory }, logFile)
  onTestFinished(async () => void (await running.end(SHUTDOWN_MS)))
  await untilReady(running, { what: 'Prometheus', logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS }, () =>
    responds(`${url}/-/ready`),
  )

  async function query(expr: string): Promise<readonly Sample[]> {
    const response = await fetch(`${url}/api/v1/query`, { method: 'POST', body: new URLSearchParams({ query: expr }) })
    const body = (await response.json()) as {
      readonly error?: string
      readonly data: { readonly result: readonly Sample[] }
    }
    if (!response.ok) throw new Error(`${expr}: ${body.error}`)
    return body.data.result
  }

  /** The names of the alerts that fire. */
  async function firing(): Promise<ReadonlySet<string>> {
    const samples = await query('max by (alertname) (ALERTS{alertstate="firing"})')
    return new Set(samples.map(({ metric }) => metric['alertname'] ?? ''))
  }

  return {
    query,
    firing,
    /** Summaries and descriptions of the alerts that are pending or fire, as Prometheus has filled them in. */
    async annotations(): Promise<readonly string[]> {
      const { data } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as {
        readonly data: { readonly alerts: readonly { readonly annotations: Readonly<Record<string, string>> }[] }
      }
      return data.alerts.flatMap(({ annotations }) => Object.values(annotations))
    },
    async untilFiring(alerts: readonly string[]): Promise<void> {
      await until(`${alerts.join(', ')} to fire`, WAIT, async () => {
        const now = await firing()
        return alerts.every((alert) => now.has(alert))
      })
    },
    async untilResolved(alerts: readonly string[]): Promise<void> {
      await until(`${alerts.join(', ')} to resolve`, WAIT, async () => {
        const now = await firing()
        return !alerts.some((alert) => now.has(alert))
      })
    },
  }
}
