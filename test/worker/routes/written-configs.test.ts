import { expect, it } from 'vitest'
import { startTestWorker } from '../../support/worker.ts'
import {
  PATCHED,
  sendText,
  UNTRIMMED,
  UNTRIMMED_ERROR,
  WRITTEN_CONFIGS,
  WRITTEN_PATCH,
  WRITTEN_PUT,
} from '../../support/written-configs.ts'

// `test/e2e/java/written-configs.test.ts` has the same requests for Kafka Connect.

it('configurations are stored as Kafka Connect stores them', { tags: ['slow'] }, async () => {
  const { url } = await startTestWorker()
  for (const [what, body, name, stored] of WRITTEN_CONFIGS) {
    expect(await sendText('POST', `${url}/connectors`, body), what).toMatchObject({ name, config: stored })
  }
  const config = `${url}/connectors/numbers/config`
  const patched = await sendText('PATCH', config, WRITTEN_PATCH)
  expect(patched).toMatchObject({ config: PATCHED })
  expect(patched).not.toHaveProperty('config.b')
  expect(await sendText('PUT', config, WRITTEN_PUT)).toMatchObject({ config: { a: '3.0', 'tasks.max': '1' } })
  const validated = await sendText('PUT', `${url}/connector-plugins/FileStreamSource/config/validate`, UNTRIMMED)
  expect(JSON.stringify(validated)).toContain(UNTRIMMED_ERROR)
})

it('a request with a body to a path that does not exist is answered as without it', async () => {
  const { url } = await startTestWorker()
  expect(await sendText('POST', `${url}/no/such/path`, '{"a": 1.0}')).toMatchObject({ error_code: 404 })
})
