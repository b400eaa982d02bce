import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Broker, NewRecord } from '../../../src/broker/broker.ts'
import { ProcessPluginHost } from '../../../src/worker/isolation/plugins/process-plugin-host.ts'
import { describeOn, real } from '../../env/real.ts'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { expectAccessible, openConsole, showView } from '../../support/console-page.ts'
import { startTestWorker } from '../../support/worker.ts'

const chromium = await real('chromium')

const INSTALLED = join(import.meta.dirname, 'preview-plugins.ts')
const SMT = 'org.apache.kafka.connect.transforms'
const HOSTILE = '<img src=x onerror="alert(1)">'
const SINK = {
  name: 'orders-sink',
  'connector.class': 'FileStreamSink',
  file: '/dev/null',
  topics: 'orders',
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter.schemas.enable': 'false',
}

async function produce(broker: Broker, topic: string, records: readonly Omit<NewRecord, 'topic'>[]): Promise<void> {
  await broker.topics.create({ name: topic, partitions: 1, configs: { 'retention.ms': '-1' } })
  const producer = await broker.producer()
  await producer.send(records.map((record, at) => ({ timestampMs: at, partition: 0, ...record, topic })))
  await producer.close()
}

const values = (...texts: readonly string[]) => texts.map((text) => ({ key: null, value: Buffer.from(text) }))

describeOn([chromium], 'the preview of records in the form of a connector', () => {
  it('shows each record before and after, one that fails, one that is dropped, and why a preview is impossible', async () => {
    const { url, broker } = await startTestWorker(
      { 'plugin.path': INSTALLED, 'worker.thread.blocked.max.ms': '500', 'connector.paths.allowed': '/' },
      { openPlugins: ProcessPluginHost.open },
    )
    await produce(broker, 'orders', [
      ...values('{"id":1,"name":"Ada"}', '{"id":', '{"id":3,"name":"bad"}', JSON.stringify({ name: HOSTILE })),
      { key: null, value: null },
    ])
    await callAs(undefined, url, 'PUT /connectors/orders-sink/config', SINK)
    const page = await openConsole(chromium.address.url, url)
    await showView(page, 'connectors/orders-sink/edit')
    const edit = (more: object) => page.getByLabel('Configuration as JSON').fill(JSON.stringify({ ...SINK, ...more }))
    const preview = () => page.getByRole('button', { name: 'Preview records' }).click()
    await edit({
      predicates: 'gone',
      'predicates.gone.type': `${SMT}.predicates.RecordIsTombstone`,
      transforms: 'drop,refuse,rename',
      'transforms.drop.type': `${SMT}.Filter`,
      'transforms.drop.predicate': 'gone',
      'transforms.refuse.type': 'Refuses',
      'transforms.rename.type': `${SMT}.ReplaceField$Value`,
      'transforms.rename.renames': 'name:who',
      'errors.tolerance': 'all',
    })
    await preview()
    await page.getByText('The last 5 records of orders: 2 pass, 1 is dropped, 2 fail.').waitFor()
    const first = page.getByRole('region', { name: /^Difference of As the converters read it/ }).last()
    expect(await first.textContent()).toContain('"who": "Ada"')
    expect(await first.textContent()).toContain('"name": "Ada"')
    await page.getByText('TypeError: it contains bad').waitFor()
    await page.getByText('It fails in TRANSFORMATION of Refuses. It would be skipped, and kept nowhere.').waitFor()
    await page.getByText('It fails in VALUE_CONVERTER of org.apache.kafka.connect.json.JsonConverter.').waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    await expectAccessible(page, 'preview')
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(
      true,
    )
    await page.setViewportSize({ width: 1_400, height: 900 })

    await edit({ transforms: 'loop', 'transforms.loop.type': 'Loops' })
    await page.getByText('The configuration has changed since.').waitFor()
    await preview()
    await page.getByText(/Loops .*during a preview of records/).waitFor()
    await edit({ topics: 'none' })
    await preview()
    await page.getByText("There is no topic 'none' yet.").waitFor()
    await page.getByText('There is no record to show.').waitFor()
    // Nothing was saved.
    expect((await callAs(undefined, url, 'GET /connectors/orders-sink/config')).body).toEqual(SINK)
  })

  it('is offered for a new connector, and says why it is refused to a user who may not read the topic', async () => {
    const { url, broker } = await startTestWorker(await basicAuthSettings({ ada: 'developer' }))
    await produce(broker, 'orders', values('"not for ada"'))
    const page = await openConsole(chromium.address.url, url)
    await page.getByLabel('User').fill('ada')
    await page.getByLabel('Password').fill('ada')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await showView(page, 'new-connector')
    await page.getByLabel('Configuration as JSON').fill(JSON.stringify(SINK))
    await page.getByRole('button', { name: 'Preview records' }).click()
    await page.getByText("User 'ada' lacks the permission 'read' on the topic 'orders'").waitFor()
    expect(await page.content()).not.toContain('not for ada')
  })
})
