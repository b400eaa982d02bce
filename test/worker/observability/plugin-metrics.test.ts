import { expect, it } from 'vitest'
import { createMetrics } from '../../../src/common/metrics-registry.ts'
import { type PluginMetric, registerPluginMetrics } from '../../../src/worker/observability/plugin-metrics.ts'

it('serves the metrics that plugins have at the time of each scrape', async () => {
  const metrics = createMetrics()
  const metric = (name: string, value: number, tags = {}): PluginMetric => ({ name, description: '', tags, value })
  let found: readonly PluginMetric[] = [
    metric('rows-read', 1, { connector: 'c', task: '0' }),
    metric('rows-read', 2, { connector: 'c', task: '1', 'db.name': 'shop' }),
  ]
  registerPluginMetrics(metrics, async () => found)
  const lines = async () => (await metrics.metrics()).split('\n').filter((line) => line.startsWith('kafka'))
  expect(await lines()).toEqual([
    'kafka_connect_plugins_rows_read{connector="c",task="0"} 1',
    'kafka_connect_plugins_rows_read{connector="c",task="1",db_name="shop"} 2',
  ])
  found = [metric('2 lags', Number.NaN)]
  expect(await lines()).toEqual(['kafka_connect_plugins__2_lags Nan'])
  found = []
  expect(await lines()).toEqual([])
})
