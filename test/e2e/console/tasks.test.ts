import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { openConsole } from '../../support/console-page.ts'
import { startTaskEstate } from '../../support/task-estate.ts'
import { taskRows } from '../../support/tasks-page.ts'

const chromium = await real('chromium')

const TIMEOUT_MS = 400_000

/** One click, choice, text or confirmation. `label` is what the page says at this place of the path. */
type Step = (page: Page, label: string) => Promise<unknown>

const link: Step = (page, label) => page.getByRole('link', { name: label, exact: true }).first().click()
/** Found by its text, as the page shows it: its name also says what it applies to. It can have the number of that. */
const button: Step = (page, label) =>
  page
    .getByRole('button')
    .filter({ hasText: new RegExp(`^${RegExp.escape(label)}(?: \\(\\d+\\))?$`) })
    .first()
    .click()
const check: Step = (page, label) => page.getByLabel(label, { exact: true }).first().check()
const confirm: Step = (page) => page.getByRole('dialog').getByRole('button').last().click()
const enter =
  (text: string): Step =>
  (page, label) =>
    page
      .getByLabel(new RegExp(`^${RegExp.escape(label)}`))
      .first()
      .fill(text)
const choose =
  (value: string): Step =>
  (page, label) =>
    page
      .getByLabel(new RegExp(`^${RegExp.escape(label)}`))
      .first()
      .selectOption(value)
const level: Step = (page, label) =>
  page
    .getByLabel(/^Change the compatibility level/)
    .first()
    .selectOption(label)

type Walk = {
  readonly steps: readonly Step[]
  /** What the last view shows. */
  readonly shows: (page: Page) => { waitFor(): Promise<void> }
}

const row = (page: Page, table: string, name: RegExp) =>
  page.getByRole('table', { name: table }).getByRole('row', { name })
const text = (shown: string | RegExp) => (page: Page) =>
  page.locator('body').getByText(shown).filter({ visible: true }).first()
const NEW = JSON.stringify({
  name: 'made',
  config: { 'connector.class': 'FileStreamSource', file: '/dev/null', topic: 'made' },
})

/** By the number of the task. */
const WALKS: Readonly<Record<number, Walk>> = {
  1: { steps: [link], shows: text(/payments, partition 0, offset 2/) },
  2: { steps: [link, button], shows: text('Restarted what has failed of payments-archive.') },
  3: { steps: [], shows: text(/version 2.*name/) },
  4: { steps: [link], shows: (page) => row(page, 'Connectors', /orders-http.* [1-9]\d* /) },
  5: { steps: [link, link], shows: (page) => page.getByRole('button', { name: 'Show record 0/199' }) },
  6: {
    steps: [link, link, button, confirm, enter('3'), button, confirm, button],
    shows: text('Resumed payments-archive.'),
  },
  7: { steps: [link, check, button, confirm], shows: text('Replayed 1 record.') },
  8: { steps: [link, link, button], shows: text(/What each compatibility level says of version 2 after 1/) },
  9: { steps: [link], shows: (page) => row(page, 'Subjects', /orders-value.*topic orders, orders, orders-file/) },
  10: {
    steps: [link, link, level, button],
    shows: text('Set the compatibility level of subject orders-value to FULL.'),
  },
  11: {
    steps: [link, link, enter(NEW), button],
    shows: (page) => page.getByRole('heading', { level: 1, name: 'made' }),
  },
  12: { steps: [link], shows: text('1 key differs.') },
  13: { steps: [link, enter('test-'), check, button, confirm], shows: text(/Paused 20 of 20 connectors/) },
  14: { steps: [link, link, link, enter('none'), button], shows: text('Changed the configuration of orders-file.') },
  15: { steps: [link, link, link], shows: (page) => page.locator('ol.log .level').first() },
  16: { steps: [link, link], shows: (page) => page.getByRole('button', { name: /^Pause / }) },
  17: { steps: [link, link, enter('no payment'), button], shows: (page) => row(page, 'Records', /no payment/).first() },
  18: { steps: [link, link, button, confirm], shows: text(/It has been deleted/) },
  19: {
    steps: [link, link, link, button, confirm, button, confirm, button],
    shows: text('Resumed orders-file.'),
  },
  20: {
    steps: [link, link, choose('org.apache.kafka.connect.file.FileStreamSinkConnector')],
    shows: (page) => page.locator('.field .documentation').first(),
  },
}

describeOn([chromium], 'the console of a running weir up', () => {
  it('does each task of docs/tasks.md by the clicks that the page says', { timeout: TIMEOUT_MS }, async () => {
    const { consoleUrl } = await startTaskEstate()
    const page = await openConsole(chromium.address.url, consoleUrl, { viewport: { width: 1_400, height: 900 } })
    for (const { number, title, clicks } of taskRows()) {
      const { steps, shows } = WALKS[number]!
      expect(steps.length, title).toBe(clicks.length)
      await page.goto(`${consoleUrl}/ui`)
      await page.getByRole('heading', { level: 2, name: 'Needs attention' }).waitFor()
      try {
        for (const [at, step] of steps.entries()) await step(page, clicks[at]!)
        await shows(page).waitFor()
      } catch (error) {
        throw new Error(`${number}, ${title}: ${await page.locator('main').textContent()}`, { cause: error })
      }
    }
  })
})
