import { expect, it, onTestFinished } from 'vitest'
import type { Broker, NewRecord } from '../../../src/broker/broker.ts'
import { createSerializer } from '../../../src/serde/serde.ts'
import { describeOn, real } from '../../env/real.ts'
import { basicAuthSettings } from '../../support/basic-auth.ts'
import { expectAccessible, findFromOverview, openConsole, showView, takePicture } from '../../support/console-page.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { focusedName, heardOf, listenToPage } from '../../support/screen-reader.ts'
import { startTestWorker } from '../../support/worker.ts'

const chromium = await real('chromium')

const HOSTILE = '<img src=x onerror="alert(1)">'
const SECRET = '123-45-6789'
const PERSON = {
  type: 'AVRO',
  text: JSON.stringify({
    type: 'record',
    name: 'Person',
    fields: [
      { name: 'name', type: 'string' },
      { name: 'ssn', type: 'string', 'confluent:tags': ['PII'] },
    ],
  }),
} as const

/** What is wider than the page, which would scroll sideways. */
const TOO_WIDE = `document.documentElement.scrollWidth > document.documentElement.clientWidth
  ? [...document.querySelectorAll('main *')].filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth)
      .map((element) => element.outerHTML.slice(0, 100))
  : []`

async function produce(broker: Broker, topic: string, records: readonly Omit<NewRecord, 'topic'>[]): Promise<void> {
  await broker.topics.create({ name: topic, partitions: 2 })
  const producer = await broker.producer()
  await producer.send(records.map((record) => ({ partition: 0, ...record, topic })))
  await producer.close()
}

async function start(settings: Readonly<Record<string, string>> = {}) {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.stop())
  const worker = await startTestWorker({ 'value.converter.schema.registry.url': registry.url, ...settings })
  const serializer = createSerializer({ registry: { url: registry.url }, schema: PERSON })
  const person = (name: string) => serializer.serialize('people', { name, ssn: SECRET }) as Promise<Buffer>
  return { ...worker, person }
}

describeOn([chromium], 'the topics of a worker in the console', () => {
  it('are listed, searched and shown with their records, partitions, groups and configuration', async () => {
    const { url, broker, person } = await start()
    await produce(broker, 'people', [
      { key: Buffer.from('k1'), value: await person('Ada'), headers: [['trace', Buffer.from(HOSTILE)]] },
      { key: Buffer.from(HOSTILE), value: Buffer.from(HOSTILE) },
      { key: null, value: null },
    ])
    for (let at = 0; at < 210; at++) await broker.topics.create({ name: `topic-${at}`, partitions: 1 })
    await broker.groups.setOffsets('readers', [{ topic: 'people', partition: 0, offset: 1 }])
    const page = await openConsole(chromium.address.url, url, { acceptDownloads: true })
    await findFromOverview(page, ['Topics'], '1 to 200 of 211')
    await expectAccessible(page, 'topics')
    await page.getByRole('link', { name: 'Next' }).click()
    await page.getByText('201 to 211 of 211').waitFor()
    await page.getByLabel('Search').fill('peop')
    await page.getByText('1 to 1 of 1').waitFor()
    await page.getByRole('link', { name: 'people', exact: true }).click()

    await page.getByText('3 records shown, 3 read.').waitFor()
    await page.getByText('{"name":"Ada","ssn":"***"}').first().waitFor()
    await page.getByText(HOSTILE, { exact: true }).first().waitFor()
    await takePicture(page, 'records')
    await page.getByRole('button', { name: 'Show record 0/0' }).click()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Record 0/0')
    await page.getByText('Masked because of their tags: Person.ssn.').waitFor()
    await page.getByText('people-value, version 1, id 1').waitFor()
    expect(await page.getByRole('region', { name: 'Value' }).textContent()).toBe(
      '{\n  "name": "Ada",\n  "ssn": "***"\n}',
    )
    await expectAccessible(page, 'records')
    expect(await page.content()).not.toContain(SECRET)
    expect(await page.locator('main img').count()).toBe(0)

    // The address has the state: another page shows the same.
    const other = await openConsole(chromium.address.url, url)
    await showView(other, page.url().split('#/')[1]!)
    await other.getByText('Masked because of their tags: Person.ssn.').waitFor()

    await page.getByRole('button', { name: 'Close record 0/0' }).click()
    await expect.poll(() => focusedName(page)).toBe('Show record 0/0')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as JSON lines' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('people.jsonl')

    await page.getByRole('searchbox', { name: 'Text' }).fill('ada')
    await page.getByRole('button', { name: 'Read', exact: true }).click()
    await page.getByText('1 record shown, 3 read.').waitFor()
    expect(page.url()).toContain('search=ada')
    await page.getByRole('link', { name: 'Partitions', exact: true }).click()
    await page.getByRole('heading', { level: 2, name: 'Partitions' }).waitFor()
    await page.getByRole('link', { name: 'Consumer groups', exact: true }).click()
    await page.getByText('lag 2').click()
    await page.getByRole('cell', { name: '2', exact: true }).waitFor()
    await expectAccessible(page, 'groups')
    await page.getByRole('link', { name: 'Configuration', exact: true }).click()
    await page.getByText('cleanup.policy').waitFor()
    await expectAccessible(page, 'configuration of a topic')
    await showView(page, 'topics/people/partition')
    await page.getByText("There is no section 'partition' here.").waitFor()

    await page.setViewportSize({ width: 390, height: 844 })
    for (const view of ['topics', 'topics/people?record=0%2F0', 'topics/people/partitions', 'topics/people/groups']) {
      await showView(page, view)
      await page
        .getByRole('heading', { level: view === 'topics' ? 1 : 2 })
        .first()
        .waitFor()
      expect(await page.evaluate(TOO_WIDE)).toEqual([])
    }
  })

  it('are followed as they are written, and read on where a request ended', async () => {
    const { url, broker } = await start()
    const numbered = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => ({
        key: null,
        value: Buffer.from(`value ${from + at}`),
        timestampMs: from + at,
      }))
    await produce(broker, 'numbers', numbered(0, 120))
    const page = await openConsole(chromium.address.url, url)
    await showView(page, 'topics/numbers')
    await page.getByText('50 records shown,').waitFor()
    await page.getByText('value 119', { exact: true }).waitFor()
    for (const count of ['100 records shown,', '120 records shown,']) {
      await page.getByRole('button', { name: 'Continue with older records' }).click()
      await page.getByText(count).waitFor()
    }
    expect(await page.getByRole('button', { name: /^Continue/ }).count()).toBe(0)
    await page.getByRole('checkbox', { name: 'Follow' }).check()
    await page.getByText('Continue with older records').waitFor({ state: 'hidden' })
    await listenToPage(page)
    await produce(broker, 'numbers', numbered(120, 123))
    await page.getByText('123 records shown,').waitFor()
    await page.getByText('value 122', { exact: true }).waitFor()
    // What nobody has asked for is not announced.
    expect((await heardOf(page)).announced).toEqual([])
    await page.getByLabel(/^From/).selectOption('offset')
    await page.getByLabel('Offset', { exact: true }).fill('121')
    await page.getByRole('button', { name: 'Read', exact: true }).click()
    await page.getByText('2 records shown, 2 read.').waitFor()
  })

  it('show no record to a user without the right, and say why', async () => {
    const { url, broker } = await start(await basicAuthSettings({ ada: 'developer' }))
    await produce(broker, 'people', [{ key: null, value: Buffer.from('not for ada') }])
    const page = await openConsole(chromium.address.url, url)
    await page.getByLabel('User').fill('ada')
    await page.getByLabel('Password').fill('ada')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('link', { name: 'Topics', exact: true }).click()
    await page.getByRole('link', { name: 'people', exact: true }).click()
    await page.getByText('Records are shown to users with the permission read on this topic.').waitFor()
    await page.getByRole('link', { name: 'Partitions', exact: true }).click()
    await page.getByRole('heading', { level: 2, name: 'Partitions' }).waitFor()
    expect(await page.content()).not.toContain('not for ada')
  })
})
