import { chromium, type Page } from 'playwright-core'
import { counted, countedOf } from '../../../src/common/counted.ts'
import { chromiumPart } from '../../env/chromium.ts'
import { calibrate } from '../calibration.ts'
import { besideCalibration, type Figure } from '../figures.ts'
import { progress, type Settings } from '../settings.ts'
import { type LargePrograms, startLargePrograms, VERSIONS_PER_SUBJECT } from './large-programs.ts'
import { longestTaskDuring } from './main-thread.ts'
import { startManyRecords } from './many-records.ts'

const SIZES = { connectors: 10_000, versions: 100_000, records: 1_000_000 }
const TOPIC = 'orders'
/** What the page keeps. */
const SHOWN_RECORDS = 5_000
/** Maximum of a frame, relative to the calibration: 100 ms, which a user notices, on the machine for which it takes as long. */
const FRAME_AIM = 1
const TIMEOUT_MS = 120_000
/** Steps through the whole table, one in each frame. As text, because the types of browsers are not those of Node.js. */
const SCROLL = `(async () => {
  const body = document.querySelector('[role=rowgroup][tabindex]')
  for (let at = 0; at < 120; at++) {
    body.scrollTop = ((at * 997) % 120) * (body.scrollHeight / 120)
    await new Promise(requestAnimationFrame)
  }
})()`

type Measured = { readonly name: string; readonly values: number[] }
type Measure = (name: string, action: () => Promise<unknown>) => Promise<void>

/** Measures the longest frame of the console's largest pages: CPU time of the main thread of the page. */
export async function benchConsole(settings: Settings): Promise<readonly Figure[]> {
  await using running = new AsyncDisposableStack()
  const programs = await startLargePrograms(SIZES)
  running.defer(() => programs.stop())
  const worker = await startManyRecords(TOPIC, SIZES.records)
  running.defer(() => worker.kill())
  const { address, stop } = await chromiumPart('chromium').start(() => {
    throw new Error('Chromium needs no other part')
  })
  running.defer(stop)
  const browser = await chromium.connectOverCDP(address.url)
  running.defer(() => browser.close())
  const figures = new Map<string, Measured>()
  const calibrationMs: number[] = []
  for (let round = 1; round <= settings.rounds; round++) {
    progress(`console: round ${round} of ${settings.rounds}`)
    calibrationMs.push(calibrate().cpuMs)
    const context = await browser.newContext({ viewport: { width: 1_600, height: 1_000 } })
    context.setDefaultTimeout(TIMEOUT_MS)
    const page = await context.newPage()
    const measure: Measure = async (name, action) => {
      const measured = figures.get(name) ?? { name, values: [] }
      figures.set(name, measured)
      measured.values.push(await longestTaskDuring(browser, page, action))
    }
    await measureConnectors(page, programs, measure)
    await measureVersions(page, programs, measure)
    await measureSubjects(page, programs, measure)
    await measureRecords(page, worker.url, measure)
    await context.close()
  }
  return [...figures.values()].map(({ name, values }) =>
    besideCalibration(`CPU time of the longest frame, ${name}`, values, calibrationMs, FRAME_AIM),
  )
}

async function measureConnectors(page: Page, programs: LargePrograms, measure: Measure): Promise<void> {
  const { connectors } = SIZES
  await page.goto(`${programs.url}/ui#/connectors`)
  await page.getByText(countedOf(connectors, connectors)).waitFor()
  await measure(`scrolling ${connectors} connectors`, () => page.evaluate(SCROLL))
  await measure(`a changed connector of ${connectors}`, async () => {
    const changed = page.waitForResponse(/expand=status/)
    programs.changeConnector()
    await changed
    // The next frame shows it.
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  })
  await measure(`searching ${connectors} connectors`, () => search(page, 'connector-0123', countedOf(10, connectors)))
}

async function measureVersions(page: Page, { url }: LargePrograms, measure: Measure): Promise<void> {
  const { versions } = SIZES
  await page.goto(`${url}/ui#/subjects?show=versions`)
  await measure(`reading ${versions} versions`, () =>
    page
      .getByText(`${versions.toLocaleString('en')} of ${counted(versions, 'version')}`)
      .first()
      .waitFor(),
  )
  await page.getByText('Read again').waitFor()
  await measure(`scrolling ${versions} versions`, () => page.evaluate(SCROLL))
  await measure(`searching ${versions} versions`, () =>
    search(page, 'topic-1234-', `5 of ${counted(versions, 'version')}`),
  )
}

async function measureSubjects(page: Page, { url, largeSubject }: LargePrograms, measure: Measure): Promise<void> {
  const { versions } = SIZES
  const subjects = versions / VERSIONS_PER_SUBJECT
  await page.goto(`${url}/ui#/subjects`)
  await page.getByText(countedOf(subjects, subjects)).waitFor()
  await measure(`scrolling ${subjects} subjects`, () => page.evaluate(SCROLL))
  await measure(`searching ${subjects} subjects`, () => search(page, 'topic-1234-', countedOf(1, subjects)))
  await measure(`opening a subject of ${versions} versions`, async () => {
    await page.goto(`${url}/ui#/subjects/${largeSubject}`)
    await page.getByRole('heading', { level: 2, name: `Version ${versions} ` }).waitFor()
  })
  await measure(`comparing two of ${versions} versions`, async () => {
    await page.getByLabel('Compare with', { exact: true }).fill('7')
    await page.keyboard.press('Enter')
    await page.getByText(`What each compatibility level says of version ${versions} after 7`).waitFor()
  })
}

async function measureRecords(page: Page, url: string, measure: Measure): Promise<void> {
  const { records } = SIZES
  const more = () => page.getByRole('button', { name: 'Continue with older records' }).click()
  await measure(`opening a topic of ${records} records`, async () => {
    await page.goto(`${url}/ui#/topics/${TOPIC}`)
    await page.getByText('50 records shown,').waitFor()
  })
  await measure(`reading ${SHOWN_RECORDS} of ${records} records`, async () => {
    for (let shown = 100; shown <= SHOWN_RECORDS; shown += 50) {
      await more()
      await page.getByText(`${counted(shown, 'record')} shown,`).waitFor()
    }
  })
  await measure(`scrolling ${SHOWN_RECORDS} of ${records} records`, () => page.evaluate(SCROLL))
  await measure(`searching ${records} records`, async () => {
    // The oldest ones, so that all requests read as much as they may.
    await page.getByRole('searchbox', { name: 'Text' }).fill('"order":7,')
    await page.getByRole('button', { name: 'Read', exact: true }).click()
    const status = page.getByText(/ read\./)
    for (;;) {
      const read = (await status.textContent())?.trim() ?? ''
      if (read.startsWith('1 record ')) break
      await more()
      await page.getByText(read, { exact: true }).waitFor({ state: 'hidden' })
    }
  })
}

async function search(page: Page, text: string, shown: string): Promise<void> {
  await page.getByRole('searchbox', { name: 'Search' }).pressSequentially(text)
  await page.getByText(shown).first().waitFor()
}
