import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import { run } from '../env/process.ts'
import { describeOn, real } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { HISTORY_LIMITS, promtoolTests } from '../support/alert-histories.ts'
import { KAFKA, VALID_VALUES } from '../support/chart-values.ts'
import { CHARTS } from '../support/charts.ts'
import { helmAt } from '../support/helm.ts'
import { ALERT_GROUPS, ALERTS, prometheusRules } from '../support/monitoring.ts'

const [prometheus, helm] = [await real('prometheus'), await real('helm')]

/** Runs promtool and returns its output. Fails if promtool does. */
async function promtool(directory: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run({ file: prometheus.address.promtool, args, directory })
  expect(code, `${stdout}\n${stderr}`).toBe(0)
  return stdout
}

describeOn([prometheus], 'the alert rules', () => {
  it('fire and resolve in each recorded history, with their real durations', async () => {
    const directory = partDirectory('promtool')
    writeFileSync(join(directory, 'rules.yaml'), stringify(prometheusRules({ limits: HISTORY_LIMITS })))
    writeFileSync(join(directory, 'tests.yaml'), stringify(promtoolTests('rules.yaml'), { lineWidth: 0 }))
    expect(await promtool(directory, 'test', 'rules', 'tests.yaml')).toContain('SUCCESS')
  })

  it('for Prometheus without Kubernetes are valid, and so is the configuration that uses them', async () => {
    const output = await promtool(join(CHARTS, '../examples/prometheus'), 'check', 'config', 'prometheus.yaml')
    const limited = ALERTS.filter(({ onlyWith }) => onlyWith !== undefined)
    expect(output).toContain(`SUCCESS: ${ALERTS.length - limited.length} rules found`)
  })
})

describeOn([prometheus, helm], 'the alert rules of the chart', () => {
  const charts = helmAt(helm.address.file)

  async function rulesWith(values: object): Promise<ReturnType<typeof prometheusRules>> {
    const rules = (await charts.render(values)).filter(({ kind }) => kind === 'PrometheusRule')
    expect(rules).toHaveLength(1)
    return rules[0]!.spec as ReturnType<typeof prometheusRules>
  }

  it('are valid and complete, use only metrics from the namespace of the release, and link to the runbook', async () => {
    const values = VALID_VALUES['everything']!
    const { groups } = await rulesWith(values)
    const directory = partDirectory('promtool')
    writeFileSync(join(directory, 'rules.yaml'), stringify({ groups }))
    expect(await promtool(directory, 'check', 'rules', 'rules.yaml')).toContain(`SUCCESS: ${ALERTS.length} rules found`)
    const rules = groups.flatMap((group) => group.rules)
    expect(rules.filter(({ expr }) => !expr.includes('namespace="weir"') || expr.includes('$'))).toEqual([])
    const links = rules.map(({ alert }) => `docs/alerts.md#${alert.toLowerCase()}`)
    expect(rules.map(({ annotations }) => annotations['runbook_url'])).toEqual(links)
    const counts = rules.filter(({ alert }) => /Count$/.test(alert))
    expect(counts.map(({ annotations }) => annotations['description'])).toEqual([
      '{{ $value }} connectors run; 2 are expected.',
      '{{ $value }} tasks run; 8 are expected.',
    ])
    const jobs = rules.find(({ alert }) => alert === 'WeirTargetDown')
    expect(jobs?.expr).toContain('job=~"streams-(operator|registry|worker)"')
  })

  it('are only those of programs that the release runs', async () => {
    const names = async (values: object) => (await rulesWith(values)).groups.map(({ name }) => name)
    expect(await names(VALID_VALUES['an operator alone']!)).toEqual(['weir.programs', 'weir.operator'])
    expect(await names(KAFKA)).toEqual(Object.keys(ALERT_GROUPS))
  })
})
