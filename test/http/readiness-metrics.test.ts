import { expect, it } from 'vitest'
import { createMetrics } from '../../src/common/metrics-registry.ts'
import { registerReadiness } from '../../src/http/readiness-metrics.ts'

it('each program of a process reports at a scrape whether it is ready then', async () => {
  const metrics = createMetrics()
  let isReady = false
  registerReadiness(metrics, 'registry', () => true)
  registerReadiness(metrics, 'worker', () => isReady)
  const readiness = async () => (await metrics.metrics()).split('\n').filter((line) => line.startsWith('weir_ready'))
  expect(await readiness()).toEqual(['weir_ready{program="registry"} 1', 'weir_ready{program="worker"} 0'])
  isReady = true
  expect(await readiness()).toEqual(['weir_ready{program="registry"} 1', 'weir_ready{program="worker"} 1'])
})
