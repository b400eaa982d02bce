import { chromium, type Page } from 'playwright-core'
import { counted, countedOf } from '../../../src/common/counted.ts'
import { chromiumPart } from '../../env/chromium.ts'
import { calibrate } from '../calibration.ts'
import { besideCalibration, type Figure } from '../figures.ts'
import { progress, type Settings } from '../settings.ts'
import { startLargePrograms } from './large-programs.ts'
import { longestTaskDuring } from './main-thread.ts'

const SIZES = { connectors: 10_000, versions: 100_000 }
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

/** Measures the longest frame of the console's largest lists: CPU time of the main thread of the page. */
export async function benchConsole(settings: Settings): Promise<readonly Figure[]> {
  await using running = new AsyncDisposableStack()
  const programs = await startLargePrograms(SIZES)
  running.defer(() => programs.stop())
  const { address, stop } = await chromiumPart('chromium').start(() => {
    throw new Error('Chromium needs no other part')
  })
  running.defer(stop)
  const browser = await chromium.connectOverCDP(address.url)
  running.defer(() => browser.close())
  const figures = new Map<string, Measured>()
  const calibrationMs: number[] = []
  const measure = async (page: Page, name: string, action: () => Promise<unknown>) => {
    const measured = figures.get(name) ?? { name, values: [] }
    figures.set(name, measured)
    measured.values.push(await longestTaskDuring(browser, page, action))
  }
  for (let round = 1; round <= settings.rounds; round++) {
    progress(`console: round ${round} of ${settings.rounds}`)
    calibrationMs.push(calibrate().cpuMs)
    const context = await browser.newContext({ viewport: { width: 1_600, height: 1_000 } })
    context.setDefaultTimeout(TIMEOUT_MS)
    const page = await context.newPage()
    const search = async (text: string, shown: string) => {
      await page.getByRole('searchbox', { name: 'Search' }).pressSequentially(text)
      await page.getByText(shown).first().waitFor()
    }
    await page.goto(`${programs.url}/ui#/connectors`)
    const { connectors, versions } = SIZES
    await page.getByText(countedOf(connectors, connectors)).waitFor()
    await measure(page, `scrolling ${connectors} connectors`, () => page.evaluate(SCROLL))
    await measure(page, `a changed connector of ${connectors}`, async () => {
      const changed = page.waitForResponse(/expand=status/)
      programs.changeConnector()
      await changed
      // The next frame shows it.
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    })
    await measure(page, `searching ${connectors} connectors`, () => search('connector-0123', countedOf(10, connectors)))
    await page.goto(`${programs.url}/ui#/subjects?show=versions`)
    await measure(page, `reading ${versions} versions`, () =>
      page
        .getByText(`${versions.toLocaleString('en')} of ${counted(versions, 'version')}`)
        .first()
        .waitFor(),
    )
    await page.getByText('Read again').waitFor()
    await measure(page, `scrolling ${versions} versions`, () => page.evaluate(SCROLL))
    await measure(page, `searching ${versions} versions`, () =>
      search('topic-1234-', `5 of ${counted(versions, 'version')}`),
    )
    await context.close()
  }
  return [...figures.values()].map(({ name, values }) =>
    besideCalibration(`CPU time of the longest frame, ${name}`, values, calibrationMs, FRAME_AIM),
  )
}
