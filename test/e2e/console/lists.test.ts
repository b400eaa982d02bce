import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { parseResource } from '../../../src/operator/resources/parse-resource.ts'
import { describeOn, real } from '../../env/real.ts'
import { estateConnectors, estateSubjects, startEstate } from '../../support/console-estate.ts'
import { expectAccessible, openConsole, showView } from '../../support/console-page.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { FOCUS_FAULTS } from '../../support/screen-reader.ts'
import { startTestWorker } from '../../support/worker.ts'

const chromium = await real('chromium')
const run = promisify(execFile)
const SIZES = [
  { width: 1_400, height: 900 },
  { width: 390, height: 844 },
] as const

/** Jumps through the whole table, one step in each frame; resolves to the median and the longest one. As text, because of the types of browsers. */
const SCROLL = `(async () => {
  const body = document.querySelector('[role=rowgroup][tabindex]')
  const frames = []
  let lastMs = await new Promise(requestAnimationFrame)
  for (let at = 0; at < 120; at++) {
    body.scrollTop = ((at * 997) % 120) * (body.scrollHeight / 120)
    const nowMs = await new Promise(requestAnimationFrame)
    frames.push(nowMs - lastMs)
    lastMs = nowMs
  }
  frames.sort((a, b) => a - b)
  return 'median ' + frames[60].toFixed(1) + ' ms, longest ' + frames.at(-1).toFixed(1)
})()`

/** The elements that make the page wider than the screen, and the tables that scroll to the side. As text, because of the types of browsers. */
const TOO_WIDE = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement
  const isWide = (element) => scrollWidth > clientWidth && element.getBoundingClientRect().right > clientWidth + 0.5
  const isScrolled = (element) => element.matches('.scrolled') && element.scrollWidth > element.clientWidth
  return [...document.querySelectorAll('main *')]
    .filter((element) => isWide(element) || isScrolled(element))
    .map(({ outerHTML }) => outerHTML.slice(0, 120))
})()`

/** Where titles of columns are not above their cells, and whether the page scrolls besides the table. As text, because of the types of browsers. */
const MISPLACED = `(() => {
  const edges = (row) => [...row.children].map((cell) => Math.round(cell.getBoundingClientRect().left))
  const [titles, first] = [...document.querySelectorAll('[role=row]')].map(edges)
  const { scrollHeight, clientHeight } = document.documentElement
  return { titles: titles.filter((left, at) => left !== first[at]), isScrolled: scrollHeight > clientHeight }
})()`

/** No part of the page needs scrolling to the side. */
async function expectNoSidewaysScrolling(page: Page, view: string): Promise<void> {
  expect([view, await page.evaluate(TOO_WIDE)]).toEqual([view, []])
}

/** With WEIR_CONSOLE_ESTATE set to a directory: takes pictures of an estate. */
async function takeEstatePictures(page: Page, view: string): Promise<void> {
  const directory = process.env['WEIR_CONSOLE_ESTATE']
  if (!directory) return
  mkdirSync(directory, { recursive: true })
  for (const size of SIZES) {
    await page.setViewportSize(size)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: join(directory, `${view}-${size.width}-${colorScheme}.png`) })
    }
  }
}

describeOn([chromium], 'the lists of an estate', () => {
  it('show 100,000 subjects with versions, levels and what uses them, without a request for each', async () => {
    const { url } = await startEstate({ connectors: estateConnectors(300), subjects: estateSubjects(100_000) })
    const page = await openConsole(chromium.address.url, url)
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    await showView(page, 'subjects?sort=version&level=FULL')
    await page.getByText('20,000 of 100,000').waitFor()
    const row = page.getByRole('row').nth(1)
    expect(await row.textContent()).toMatch(/^orders-\d+-value7 *10\d{4}\w+FULL own20/)
    await page.getByRole('searchbox', { name: 'Search' }).fill('used:sink-0030')
    await page.getByText('1 of 100,000').waitFor()
    await page.getByRole('link', { name: /topic orders-30, sink-0030, sink-0031/ }).waitFor()
    expect(page.url()).toContain('sort=version')
    expect(requested.filter((path) => /\/(?:subjects|config|connectors)\/./.test(new URL(path).pathname))).toEqual([])
    await page.getByRole('link', { name: 'orders-30-value' }).click()
    await page.getByText('Used by the topic orders-30 and sink-0030, sink-0031').waitFor()
    await page.goBack()
    await page.getByText('1 of 100,000').waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('')
    await page.getByText('20,000 of 100,000').waitFor()
    console.log(`frames while scrolling 100000 subjects: ${await page.evaluate(SCROLL)} ms`)
  })

  it('lead to a subject with 100,000 versions, of which one is found by its number', async () => {
    const { url } = await startEstate({ connectors: {}, subjects: estateSubjects(1), versions: 100_000 })
    const page = await openConsole(chromium.address.url, url)
    await showView(page, 'subjects/orders-0-value')
    await page.getByRole('heading', { level: 2, name: 'Version 100000' }).waitFor()
    expect(await page.locator('option').count()).toBeLessThan(50)
    const version = page.getByRole('textbox', { name: 'Version', exact: true })
    await version.fill('100001')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText("There is no version '100001'.").waitFor()
    await version.fill('77')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 2, name: 'Version 77' }).waitFor()
    await page.getByRole('textbox', { name: 'Compare with' }).fill('5')
    await page.keyboard.press('Tab')
    await expect.poll(() => page.url()).toContain('version=77&compare=5')
    await expectAccessible(page, 'a subject of many versions')
  })

  it('pause, resume and delete several connectors after one question, and say for which it failed', async () => {
    const connectors = estateConnectors(10)
    const { url, requests } = await startEstate({ connectors, subjects: [], refused: new Set(['sink-0001']) })
    const page = await openConsole(chromium.address.url, url)
    await showView(page, 'connectors?sort=name')
    await page.getByText('10 of 10').waitFor()
    for (const name of ['sink-0000', 'sink-0001', 'source-0002']) await page.getByLabel(`Select ${name}`).check()
    await page.getByRole('button', { name: 'Pause the selected connectors' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Pause 3 connectors?').waitFor()
    await dialog.getByText('Resources declare 1 of them').waitFor()
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual(['sink-0000', 'sink-0001', 'source-0002'])
    await dialog.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused 2 of 3 connectors.').waitFor()
    await page.getByText('sink-0001: you lack the permission lifecycle on sink-0001').waitFor()
    expect(requests.toSorted()).toEqual(['PUT sink-0000 pause', 'PUT sink-0001 pause', 'PUT source-0002 pause'])
    // What failed stays selected.
    await page.getByText('1 connector selected').waitFor()
    await page.getByRole('button', { name: 'Clear the selection' }).click()
    await page.getByRole('searchbox', { name: 'Search' }).fill('source')
    await page.getByText('5 of 10').waitFor()
    await page.getByLabel('Select all that are shown').check()
    await page.getByRole('button', { name: 'Delete the selected connectors' }).click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deleted 5 of 5 connectors.').waitFor()
    expect(Object.keys(connectors).every((name) => name.startsWith('sink'))).toBe(true)
  })

  it('are accessible and fit into 390 px', async () => {
    const { url } = await startEstate({ connectors: estateConnectors(300), subjects: estateSubjects(2_000) })
    const page = await openConsole(chromium.address.url, url)
    for (const [view, hash, shown] of [
      ['overview', '', 'Needs attention'],
      ['connectors', 'connectors', '300 of 300'],
      ['subjects', 'subjects', '2,000 of 2,000'],
      ['graph', 'graph', '50 of 50 topics'],
      ['graph-search', 'graph?search=sink-000', '4 of 50 topics'],
    ] as const) {
      for (const size of SIZES) {
        await page.setViewportSize(size)
        await showView(page, hash)
        await page.getByText(shown).first().waitFor()
        await expectNoSidewaysScrolling(page, view)
      }
      await expectAccessible(page, view)
      await takeEstatePictures(page, view)
    }
  })

  it('have their titles above their cells, and scroll instead of the page', async () => {
    const { url } = await startEstate({ connectors: estateConnectors(300), subjects: estateSubjects(2_000) })
    const page = await openConsole(chromium.address.url, url)
    for (const size of SIZES) {
      await page.setViewportSize(size)
      for (const [view, shown] of [
        ['connectors', '300 of 300'],
        ['connectors?search=sink-000', '10 of 300'],
        ['subjects', '2,000 of 2,000'],
      ] as const) {
        await showView(page, view)
        await page.getByText(shown).first().waitFor()
        await expect
          .poll(async () => [view, size.width, await page.evaluate(MISPLACED)])
          .toEqual([view, size.width, { titles: [], isScrolled: false }])
      }
    }
  })

  it('are used with the keyboard, and shortcuts can be turned off', async () => {
    const { url } = await startEstate({ connectors: estateConnectors(4), subjects: estateSubjects(4) })
    const page = await openConsole(chromium.address.url, url)
    const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
    await heading('Overview')
    await page.keyboard.type('gc')
    await heading('Connectors')
    await page.keyboard.type('gs')
    await heading('Subjects')
    await page.keyboard.type('/gc')
    // The keys are text in a search.
    await expect.poll(() => page.url()).toContain('#/subjects?search=gc')
    await page.keyboard.press('Tab')
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.type('gm')
    await heading('Graph')
    await page.keyboard.type('?')
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await dialog.getByText('Connectors').waitFor()
    expect(await dialog.getByText('Resources').count()).toBe(0)
    await expectAccessible(page, 'shortcuts')
    await dialog.getByLabel('Use shortcuts').uncheck()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.keyboard.type('gc?')
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    await dialog.getByLabel('Use shortcuts').check()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await heading('Graph')
  })

  it('say what to do while they are empty, with a command that works when it is pasted', async () => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const worker = await startTestWorker()
    const commandOf = async (url: string, view: string) => {
      const page = await openConsole(chromium.address.url, url)
      await showView(page, view)
      const command = await page.getByLabel('Command', { exact: true }).textContent()
      await expectAccessible(page, `empty ${view}`)
      await page.setViewportSize(SIZES[1])
      await expectNoSidewaysScrolling(page, view)
      return command ?? ''
    }
    await run('bash', ['-c', await commandOf(registry.url, 'subjects')])
    expect(await (await fetch(`${registry.url}/subjects`)).json()).toEqual(['first-orders-value'])
    await run('bash', ['-c', await commandOf(worker.url, 'connectors')])
    expect(await (await fetch(`${worker.url}/connectors`)).json()).toEqual(['first-orders'])
    const operator = await startEstate({ connectors: {}, subjects: [], resources: [] })
    const { stdout } = await run('bash', ['-c', await commandOf(operator.url, 'resources')])
    expect(parseResource(parse(stdout))).toMatchObject({ errors: [], declared: { kind: 'Subject' } })
  })

  it.each(['worker', 'registry'] as const)(
    'are pages, like all of a %s, that are accessible and fit into 390 px',
    async (kind) => {
      const program = kind === 'worker' ? await startPages() : await startSchemas()
      const page = await openConsole(chromium.address.url, program.url)
      for (const [hash, shown] of program.pages) {
        await page.setViewportSize(SIZES[1])
        await showView(page, hash)
        await page.locator('main').getByText(shown).filter({ visible: true }).first().waitFor()
        await expectNoSidewaysScrolling(page, hash)
        expect([hash, await page.evaluate(FOCUS_FAULTS)]).toEqual([hash, []])
        await page.setViewportSize(SIZES[0])
        await expectAccessible(page, hash)
        await takeEstatePictures(page, `${kind}-${hash.replace(/\W+/g, '-')}`)
      }
    },
  )
})

type Pages = { readonly url: string; readonly pages: readonly (readonly [hash: string, shown: string])[] }

/** A worker with one connector, and the pages of it. */
async function startPages(): Promise<Pages> {
  const { url } = await startTestWorker()
  const config = { name: 'lines', 'connector.class': 'Datagen', 'kafka.topic': 'lines', quickstart: 'users' }
  const body = JSON.stringify({ name: 'lines', config, initial_state: 'STOPPED' })
  const headers = { 'content-type': 'application/json' }
  expect((await fetch(`${url}/connectors`, { method: 'POST', headers, body })).status).toBe(201)
  const pages = [
    ['', 'Needs attention'],
    ['connectors', '1 of 1'],
    ['connectors/lines', 'The connector has used no topic'],
    ['connectors/lines/metrics', 'Metrics'],
    ['connectors/lines/log', 'Log'],
    ['connectors/lines/offsets', 'Offsets'],
    ['connectors/lines/edit', 'The worker finds no error.'],
    ['connectors/lines/manifest', 'kind: Connector'],
    ['new-connector', 'Choose a plugin to see its keys.'],
    ['graph', 'written by'],
  ] as const
  return { url, pages }
}

/** A registry with two versions of a subject, and the pages of it. */
async function startSchemas(): Promise<Pages> {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.stop())
  const record = (...fields: readonly object[]) => ({
    schema: JSON.stringify({ type: 'record', name: 'Order', fields: [{ name: 'id', type: 'long' }, ...fields] }),
  })
  await registry.call('PUT', '/config', { compatibility: 'NONE' })
  for (const fields of [[], [{ name: 'note', type: 'string' }]])
    expect((await registry.call('POST', '/subjects/orders-value/versions', record(...fields))).status).toBe(200)
  const pages = [
    ['', 'Needs attention'],
    ['subjects', '1 of 1'],
    ['subjects?show=versions', '2 of 2 versions'],
    ['subjects?settings=true', 'Compatibility level'],
    ['subjects/orders-value', '"name": "Order"'],
    ['subjects/orders-value?version=2&compare=1', 'BACKWARD refuses it'],
    ['subjects/orders-value/draft', 'Schema'],
  ] as const
  return { url: registry.url, pages }
}
