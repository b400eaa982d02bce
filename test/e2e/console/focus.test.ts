import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { estateConnectors, estateSubjects, startEstate } from '../../support/console-estate.ts'
import { openConsole, showView } from '../../support/console-page.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { focusedName, heardOf, listenToPage, pressKey } from '../../support/screen-reader.ts'
import { startTestWorker } from '../../support/worker.ts'

const chromium = await real('chromium')

async function expectFocus(page: Page, name: string): Promise<void> {
  await expect.poll(() => focusedName(page)).toBe(name)
}

/** At the end of a test: no frame was drawn while nothing had the focus. */
async function expectNoneLost(page: Page): Promise<void> {
  expect((await heardOf(page)).lost).toEqual([])
}

/** Moves the focus with the Tab key to a button, as long as it is inside the question. */
async function answer(page: Page, name: string): Promise<void> {
  await page.getByRole('dialog').waitFor()
  for (let presses = 0; presses < 10 && (await focusedName(page)) !== name; presses++) await page.keyboard.press('Tab')
  expect(await focusedName(page)).toBe(name)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
}

async function openEstate(): Promise<Page> {
  const { url } = await startEstate({ connectors: estateConnectors(300), subjects: estateSubjects(20) })
  const page = await openConsole(chromium.address.url, url)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  return page
}

describeOn([chromium], 'the focus in the console', () => {
  it('is at the heading of a page that is opened, and the title of the window names it', async () => {
    const page = await openEstate()
    expect(await page.title()).toBe('Overview – Weir')
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true)
    await listenToPage(page)
    await pressKey(page, 'link', 'Connectors')
    await expectFocus(page, 'Connectors')
    expect(await page.title()).toBe('Connectors – Weir')
    await page.getByText('300 of 300').waitFor()
    await pressKey(page, 'link', 'source-0000')
    await expectFocus(page, 'source-0000')
    expect(await page.title()).toBe('source-0000 – Connectors – Weir')
    await page.goBack()
    await expectFocus(page, 'Connectors')
    await page.keyboard.type('gs')
    await expectFocus(page, 'Subjects')
    await expectNoneLost(page)
  })

  it('stays with the section that was chosen, and returns from a question to the button that has asked it', async () => {
    const { url } = await startTestWorker()
    const config = { name: 'lines', 'connector.class': 'Datagen', 'kafka.topic': 'lines', quickstart: 'users' }
    const body = JSON.stringify({ name: 'lines', config, initial_state: 'STOPPED' })
    const headers = { 'content-type': 'application/json' }
    expect((await fetch(`${url}/connectors`, { method: 'POST', headers, body })).status).toBe(201)
    const page = await openConsole(chromium.address.url, url)
    await showView(page, 'connectors/lines')
    await page.getByRole('button', { name: 'Delete lines' }).waitFor()
    await listenToPage(page)
    await pressKey(page, 'link', 'Offsets')
    await page.getByRole('heading', { level: 2, name: 'Offsets' }).waitFor()
    await expectFocus(page, 'Offsets')
    expect(await page.title()).toBe('Offsets – lines – Connectors – Weir')
    await pressKey(page, 'button', 'Delete lines')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await expectFocus(page, 'Delete lines')
    await page.keyboard.press('Enter')
    await answer(page, 'Cancel')
    await expectFocus(page, 'Delete lines')
    await pressKey(page, 'button', 'Keyboard shortcuts')
    await answer(page, 'Close')
    await expectFocus(page, 'Keyboard shortcuts')
    await pressKey(page, 'button', 'Delete lines')
    await answer(page, 'Delete lines')
    // The button went with the connector.
    await page.getByRole('alert').getByText('It has been deleted').waitFor()
    await expectFocus(page, 'lines')
    await expectNoneLost(page)
    expect((await heardOf(page)).announced.filter((text) => text.includes('Deleted lines'))).toHaveLength(1)
  })

  it('goes to the next control where one is removed or can no longer be used', async () => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const record = (...names: readonly string[]) => ({
      schema: JSON.stringify({
        type: 'record',
        name: 'R',
        fields: names.map((name) => ({ name, type: 'long', default: 0 })),
      }),
    })
    for (const names of [['id'], ['id', 'a'], ['id', 'a', 'b']])
      expect((await registry.call('POST', '/subjects/orders/versions', record(...names))).status).toBe(200)
    const page = await openConsole(chromium.address.url, registry.url)
    await showView(page, 'subjects/orders')
    await page.getByRole('heading', { level: 2, name: 'Version 3' }).waitFor()
    await listenToPage(page)
    await pressKey(page, 'button', 'Compare with the previous')
    await expectFocus(page, 'End the comparison')
    await page.keyboard.press('Enter')
    await expectFocus(page, 'Compare with the previous')
    for (const version of [2, 1]) {
      await pressKey(page, 'button', 'Older version')
      await page.getByRole('heading', { level: 2, name: `Version ${version}` }).waitFor()
    }
    // There is no older one, so that the button is disabled.
    await expectFocus(page, 'Newer version')
    await showView(page, 'subjects/orders')
    await page.getByRole('heading', { level: 2, name: 'Version 3' }).waitFor()
    await pressKey(page, 'button', 'Delete version')
    await answer(page, 'Delete version')
    await page.getByText('Deleted version 3 of orders.').waitFor()
    await page.getByRole('heading', { level: 2, name: 'Version 2' }).waitFor()
    await expectFocus(page, 'orders')
    await expectNoneLost(page)
  })

  it('stays in a row that is scrolled away, and goes to the next row when it is removed', async () => {
    const page = await openEstate()
    await showView(page, 'connectors?sort=name')
    await page.getByText('300 of 300').waitFor()
    await listenToPage(page)
    await page.getByRole('link', { name: 'sink-0000', exact: true }).focus()
    await page.evaluate(`document.querySelector('.table .body').scrollTop = 1e6`)
    await page.getByText('source-0149', { exact: true }).waitFor()
    expect(await focusedName(page)).toBe('sink-0000')
    await page.evaluate(`document.querySelector('.table .body').scrollTop = 0`)
    await page.getByText('sink-0001', { exact: true }).waitFor()
    // As when somebody else deletes the connector.
    await showView(page, 'connectors?sort=name&search=none')
    await page.getByText('0 of 300').waitFor()
    await expectFocus(page, 'Connectors: rows')
    await showView(page, 'connectors?sort=name')
    await page.getByRole('link', { name: 'sink-0000', exact: true }).focus()
    await showView(page, 'connectors?sort=name&search=source')
    await page.getByText('150 of 300').waitFor()
    await expectFocus(page, 'Select source-0000')
    await expectNoneLost(page)
  })

  it('is not lost by an action on several connectors, whose result is announced once', async () => {
    const page = await openEstate()
    await showView(page, 'connectors?sort=name')
    await page.getByText('300 of 300').waitFor()
    await listenToPage(page)
    for (const name of ['sink-0000', 'sink-0001']) {
      await page.getByLabel(`Select ${name}`).focus()
      await page.keyboard.press('Space')
    }
    await page.getByText('2 connectors selected').waitFor()
    await pressKey(page, 'button', 'Pause the selected connectors')
    await answer(page, 'Pause the selected connectors')
    await page.getByText('Paused 2 of 2 connectors.').waitFor()
    await expectFocus(page, 'Connectors')
    await pressKey(page, 'button', 'Close the result')
    await page.getByText('Paused 2 of 2 connectors.').waitFor({ state: 'hidden' })
    await expectNoneLost(page)
    const { announced } = await heardOf(page)
    expect(announced.filter((text) => text.startsWith('Paused 2 of 2 connectors.'))).toHaveLength(1)
  })
})
