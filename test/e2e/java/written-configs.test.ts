import { expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { fetchFromJava } from '../../support/java-requests.ts'
import {
  PATCHED,
  sendText,
  UNTRIMMED,
  UNTRIMMED_ERROR,
  WRITTEN_CONFIGS,
  WRITTEN_PATCH,
  WRITTEN_PUT,
} from '../../support/written-configs.ts'

const javaConnect = await real('javaConnect')

describeOn([javaConnect], 'the configurations of which the unit tests say how Kafka Connect stores them', () => {
  it('are stored so by Kafka Connect', async () => {
    const { url } = javaConnect.address
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
    for (const [, , name] of WRITTEN_CONFIGS) {
      expect(await fetchFromJava(`${url}/connectors/${encodeURIComponent(name)}`, { method: 'DELETE' })).toMatchObject({
        ok: true,
      })
    }
  })
})
