import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { ProcessPluginHost } from '../../../src/worker/isolation/plugins/process-plugin-host.ts'
import { describeOn, real } from '../../env/real.ts'
import { expectAccessible, findFromOverview, openConsole, takePicture } from '../../support/console-page.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'
import { startTestWorker } from '../../support/worker.ts'

const chromium = await real('chromium')

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const HOSTILE = '<img src=x onerror="alert(1)">'

/** What is wider than the page. */
const TOO_WIDE = `[...document.querySelectorAll('main *')]
  .filter((element) => !element.closest('.hidden') && element.getBoundingClientRect().right > document.documentElement.clientWidth)
  .map((element) => element.outerHTML.slice(0, 100))`

/** A worker with a sink to a file, whose topic has records that the sink cannot convert. */
async function startSink(values: readonly string[]): Promise<{ url: string; lines: () => readonly string[] }> {
  const { url, broker } = await startTestWorker(
    { 'connector.paths.allowed': '/' },
    { openPlugins: (options) => ProcessPluginHost.open(options) },
  )
  const file = join(temporaryDirectory(), 'out.txt')
  await produce(broker, values)
  const config = {
    'connector.class': 'FileStreamSink',
    topics: 'orders',
    file,
    'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
    'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
    'value.converter.schemas.enable': 'false',
    'errors.tolerance': 'all',
    'errors.deadletterqueue.topic.name': 'orders-dead',
    'errors.deadletterqueue.topic.replication.factor': '1',
    'errors.deadletterqueue.context.headers.enable': 'true',
  }
  const response = await fetch(`${url}/connectors`, {
    method: 'POST',
    body: JSON.stringify({ name: 'orders-sink', config }),
    headers: { 'content-type': 'application/json' },
  })
  expect(response.status).toBe(201)
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
  const deadLetters = async () => (await broker.topics.offsets('orders-dead', 'latest').catch(() => []))[0]?.offset ?? 0
  await until('the dead letters', WAIT, async () => lines().length === 1 && (await deadLetters()) === 2)
  return { url, lines }
}

async function produce(broker: Broker, values: readonly string[]): Promise<void> {
  await broker.topics.create({ name: 'orders', partitions: 1 })
  const producer = await broker.producer()
  await producer.send(
    values.map((value, at) => ({ topic: 'orders', key: Buffer.from(`k${at}`), value: Buffer.from(value) })),
  )
  await producer.close()
}

describeOn([chromium], 'the dead letters of a sink in the console', () => {
  it('are shown, corrected and replayed, and arrive at the sink', async () => {
    const { url, lines } = await startSink(['{"n":1}', '{"n":2\n"name":"pen"}', HOSTILE])
    const page = await openConsole(chromium.address.url, url)
    await findFromOverview(page, [], 'DEAD LETTERS')
    await findFromOverview(page, ['orders-sink'], '2 records, the newest first')
    await page.getByText(HOSTILE, { exact: true }).waitFor()
    expect(await page.locator('img').count()).toBe(0)
    await page.getByText('From orders, partition 0, offset 1; failed in VALUE_CONVERTER').waitFor()
    await expectAccessible(page, 'dead-letters')
    await page.setViewportSize({ width: 380, height: 700 })
    expect(await page.evaluate(TOO_WIDE)).toEqual([])
    await page.setViewportSize({ width: 1_000, height: 620 })

    await page.getByRole('button', { name: 'Correct or replay 0/0' }).click()
    const value = page.getByLabel('Value, text')
    await value.fill('{"n":2,\n"name" "pen"}')
    await page.getByText('Line 2: this is not JSON.').waitFor()
    await page.getByRole('button', { name: 'Check' }).click()
    await page.locator('p.error[role=status]').getByText('line 2 column 8').waitFor()
    expect(await page.locator('.notices p').count()).toBe(0)
    await takePicture(page, 'dead-letters')
    await value.fill('{"n":2,"name":"pen"}')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.locator('.notices').getByText('Record 0/0 can be replayed.').waitFor()
    await page.getByRole('button', { name: 'Replay corrected' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('1 record is written to the end of the topic orders.').waitFor()
    await dialog.getByText('The value is corrected.').waitFor()
    await expectAccessible(page, 'dead-letters, confirmation')
    await dialog.getByRole('button', { name: 'Replay corrected' }).click()
    await until('the corrected record in the sink', WAIT, () => lines().length === 2)
    expect(lines()).toEqual(['{n=1}', '{n=2, name=pen}'])
    await page.getByText('replayed', { exact: true }).waitFor()

    // Unchanged, it fails again.
    await page.getByRole('checkbox', { name: 'Record 0/1' }).check()
    await page.getByRole('button', { name: 'Replay selected (1)' }).click()
    await dialog.getByRole('button', { name: 'Replay selected (1)' }).click()
    await page.getByText('Replayed 1 record.').waitFor()
    await until('the record that failed again', WAIT, async () => {
      await page.getByRole('button', { name: 'Read again' }).click()
      return page.getByText('3 records, the newest first').isVisible()
    })
  })
})
