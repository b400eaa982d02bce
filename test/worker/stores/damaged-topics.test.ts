import { expect, it, onTestFinished, vi } from 'vitest'
import { createBrokerClient } from '../../../src/broker/broker-client.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { ATTRIBUTES_AT } from '../../../src/broker/record-batch/batch-header.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { createMetrics } from '../../../src/common/metrics-registry.ts'
import { startWorker } from '../../../src/worker/main.ts'
import { workerSettings } from '../../../src/worker/settings.ts'
import { createDamagedBackend, flipBit } from '../../support/damaged-backend.ts'

it('a running worker whose storage topic becomes damaged is not ready, rejects writes and reports the position', {
  tags: ['slow'],
}, async () => {
  const logger = silentLogger()
  const home = await openEmbeddedBackend(':memory:', { logger })
  let isDamaged = false
  const damaged = createDamagedBackend(home, (batch) =>
    isDamaged ? flipBit(Buffer.from(batch), ATTRIBUTES_AT * 8) : batch,
  )
  const broker = createBrokerClient(damaged, { logger, address: () => Promise.reject(new Error('it has none')) })
  onTestFinished(() => broker.close())
  const settings = workerSettings([{ key: 'listeners', value: 'http://127.0.0.1:0', source: 'test' }])
  const onFailed = vi.fn<(error: Error) => void>()
  const worker = await startWorker(settings, { broker, logger, metrics: createMetrics(), onFailed })
  onTestFinished(() => worker.stop())
  const put = () =>
    fetch(`${worker.url}/connectors/c/config`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ 'connector.class': 'FileStreamSource', topic: 't', file: 'lines' }),
    })
  const [end] = await broker.topics.offsets('connect-configs', 'latest')
  isDamaged = true
  expect((await put()).status).toBe(500)
  await expect.poll(() => onFailed.mock.calls.length).toBe(1)
  const place = `the record batch at offset ${end?.offset} of connect-configs-0 cannot be read`
  expect(onFailed.mock.lastCall?.[0].message).toContain(place)
  expect((await fetch(`${worker.url}/readyz`)).status).toBe(503)
  expect(await (await put()).json()).toEqual({ error_code: 500, message: expect.stringContaining(place) })
})
