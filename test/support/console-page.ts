import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { FOCUS_FAULTS, readingFaults, readPage } from './screen-reader.ts'

const PICTURES = join(import.meta.dirname, '../../docs/pictures')
const TIMEOUT_MS = 120_000
/** The browser reports each response that is not successful; tests cause some on purpose. */
const RESPONSE = /^Failed to load resource/

let browser: Promise<Browser> | undefined

/**
 * Opens the console of the program at `url` in a context of its own, which is closed at the end of the test. The test fails if
 * the page throws an error, violates its content security policy, or sends a request to another origin.
 */
export async function openConsole(
  chromiumUrl: string,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  browser ??= chromium.connectOverCDP(chromiumUrl)
  const context = await (await browser).newContext(options)
  context.setDefaultTimeout(TIMEOUT_MS)
  const faults: string[] = []
  context.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) faults.push(`request of ${request.url()}`)
  })
  context.on('weberror', (error) => faults.push(String(error.error())))
  context.on('console', (message) => {
    if (message.type() === 'error' && !RESPONSE.test(message.text())) faults.push(message.text())
  })
  context.on('dialog', (dialog) => {
    faults.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  onTestFinished(async () => {
    await context.close()
    expect(faults).toEqual([])
  })
  const page = await context.newPage()
  await page.goto(`${url}/ui`)
  return page
}

/** Shows another view without loading the page again. */
export async function showView(page: Page, hash: string): Promise<void> {
  // As text, because the types of browsers are not those of tests.
  await page.evaluate(`location.assign(${JSON.stringify(`#/${hash}`)})`)
}

/** Presses a button, and the one of the same name in the question that it asks. */
export async function pressAndConfirm(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
}

/**
 * Expects that the page can be used by listening to it, and that axe finds no violation that is serious or critical, in light
 * and dark colors.
 */
export async function expectAccessible(page: Page, view: string): Promise<void> {
  const faults = [...readingFaults(await readPage(page)), ...((await page.evaluate(FOCUS_FAULTS)) as readonly string[])]
  expect([view, faults]).toEqual([view, []])
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
    const found = violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${view}, ${colorScheme}: ${id} at ${nodes.map(({ target }) => target).join(', ')}`)
    expect(found).toEqual([])
  }
}

/** With WEIR_CONSOLE_PICTURES set: takes the picture of a view for `docs/console.md`. */
export async function takePicture(page: Page, view: string): Promise<void> {
  if (!process.env['WEIR_CONSOLE_PICTURES']) return
  mkdirSync(PICTURES, { recursive: true })
  await page.setViewportSize({ width: 1_000, height: 620 })
  // A notice can cover what the picture is of. The page's policy permits no style sheet of the browser's driver.
  const showNotices = (isShown: boolean) =>
    page.evaluate(`document.querySelector('.notices').style.display = '${isShown ? '' : 'none'}'`)
  await showNotices(false)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.screenshot({ path: join(PICTURES, `console-${view}-light.png`) })
  await showNotices(true)
}

/** Clicks of a person who looks for the cause of a symptom. */
const CLICKS_MAX = 3

/**
 * Follows a path from the overview and expects that the last view shows a text. Each part of the path is one click; a text is
 * the name of a link. Choosing from a list and typing count as clicks.
 */
export async function findFromOverview(
  page: Page,
  path: readonly (string | RegExp | ((page: Page) => Promise<unknown>))[],
  text: string | RegExp,
): Promise<void> {
  expect(path.length).toBeLessThanOrEqual(CLICKS_MAX)
  await page.getByRole('link', { name: 'weir', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  for (const click of path) {
    if (typeof click === 'function') await click(page)
    else await page.getByRole('link', { name: click, exact: true }).first().click()
  }
  await page.locator('main').getByText(text).filter({ visible: true }).first().waitFor()
}
