import { expect, it, onTestFinished } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { callAs } from '../../support/basic-auth.ts'
import { openConsole, showView } from '../../support/console-page.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { startTestWorker } from '../../support/worker.ts'

const chromium = await real('chromium')

const MARKUP = '<img src=x onerror=alert(1)><script>alert(2)</script>'
const OVERRIDE = 'invoice\u202efdp.exe'
/** Would end an isolation that consists of control characters. */
const ISOLATION_END = `\u2069${OVERRIDE}`
/** Half of a character: JSON can contain it, URLs and UTF-8 cannot. */
const LONE = 'half \ud83d of it'
const SOURCE = { 'connector.class': 'FileStreamSource', topic: 'lines', file: '/dev/null' }

/** Whether the words after a name in a question are in the order in which they are written. */
const WORDS_LEFT_TO_RIGHT = `(() => {
  const text = document.querySelector('dialog bdi').nextSibling
  const leftOf = (word) => {
    const range = document.createRange()
    range.setStart(text, text.data.indexOf(word))
    range.setEnd(text, text.data.indexOf(word) + word.length)
    return range.getBoundingClientRect().left
  }
  return leftOf('Its') < leftOf('tasks')
})()`

describeOn([chromium], 'the console of a worker', () => {
  it('shows hostile names and values as text, and does not take one connector for another', async () => {
    const { url } = await startTestWorker({ 'connector.paths.allowed': '/' })
    const names = [MARKUP, OVERRIDE, '.', '..', 'a/../b', '__proto__', '${env:HOME}']
    for (const name of names) {
      const config = { ...SOURCE, note: OVERRIDE, [MARKUP]: MARKUP }
      expect(await callAs(undefined, url, 'POST /connectors', { name, config })).toEqual({
        status: 201,
        body: expect.anything(),
      })
    }
    const page = await openConsole(chromium.address.url, url)
    for (const name of names) {
      await showView(page, 'connectors')
      await page.getByText(`${names.length} of ${names.length}`).waitFor()
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1 }).getByText(name).waitFor()
      if (name === '.' || name === '..') {
        await page.getByRole('alert').getByText('a browser cannot request an object with the name').first().waitFor()
        continue
      }
      await page.getByRole('heading', { name: 'Configuration' }).waitFor()
      await page.getByText(OVERRIDE, { exact: true }).last().waitFor()
      for (const section of ['Manifest', 'Edit', 'Offsets']) {
        await page.getByRole('link', { name: section, exact: true }).click()
        await page.getByRole('heading', { level: 2, name: section }).waitFor()
      }
    }
    expect(await page.locator('img, main script').count()).toBe(0)
  })

  it.each([OVERRIDE, ISOLATION_END])('asks in the order of its words about the connector %j', async (name) => {
    const { url } = await startTestWorker({ 'connector.paths.allowed': '/' })
    await callAs(undefined, url, 'POST /connectors', { name, config: SOURCE })
    const page = await openConsole(chromium.address.url, url)
    await page.getByRole('link', { name: 'Connectors', exact: true }).click()
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('button', { name: /^Stop / }).click()
    await page.getByRole('dialog').getByText('Its tasks end.').waitFor()
    expect(await page.locator('dialog bdi').textContent()).toBe(name)
    expect(await page.evaluate(WORDS_LEFT_TO_RIGHT)).toBe(true)
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
    await page.getByText(`Stopped ${name}.`).waitFor()
    expect(await page.locator('.notices bdi').textContent()).toBe(name)
  })

  it('does not save an edit over a change that was made in another tab', async () => {
    const { url } = await startTestWorker({ 'connector.paths.allowed': '/' })
    await callAs(undefined, url, 'POST /connectors', { name: 'lines', config: SOURCE })
    const tabs = [await openConsole(chromium.address.url, url), await openConsole(chromium.address.url, url)] as const
    for (const [at, tab] of tabs.entries()) {
      await showView(tab, 'connectors/lines/edit')
      await tab.getByLabel(/^topic /).fill(`lines-${at}`)
      await tab.getByText('Changes topic.').waitFor()
    }
    const [first, second] = tabs
    const save = { name: 'Save', exact: true }
    await first.getByRole('button', save).click()
    await first.getByText('Changed the configuration of lines.').waitFor()
    const configOf = async () => (await callAs(undefined, url, 'GET /connectors/lines/config')).body
    // The events are late.
    await second.getByRole('button', save).click()
    await second.getByRole('alert').getByText('The configuration has changed since you began').waitFor()
    expect(await configOf()).toMatchObject({ topic: 'lines-0' })
    await second.getByRole('button', save).click()
    await second.getByText('Changed the configuration of lines.').waitFor()
    expect(await configOf()).toMatchObject({ topic: 'lines-1' })
  })
})

describeOn([chromium], 'the console of a registry', () => {
  it('shows hostile subjects and schemas as text, and does not take one subject for another', async () => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const schemaOf = (doc: string) =>
      JSON.stringify({ type: 'record', name: 'R', doc, fields: [{ name: 'id', type: 'long', doc: LONE }] })
    const subjects = [MARKUP, OVERRIDE, 'a/../b', ':.:.', ':.:..']
    for (const subject of subjects) {
      const path = `/subjects/${encodeURIComponent(subject)}/versions`
      for (const doc of [MARKUP, OVERRIDE])
        expect((await registry.call('POST', path, { schema: schemaOf(doc) })).status).toBe(200)
    }
    const page = await openConsole(chromium.address.url, registry.url)
    for (const subject of subjects) {
      const name = subject.replace(/^:\.:/, '')
      await showView(page, 'subjects')
      await page.getByText(`${subjects.length} of ${subjects.length}`).waitFor()
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1 }).getByText(name).waitFor()
      await page.getByRole('heading', { level: 2, name: 'Version 2' }).waitFor()
      await page.getByRole('button', { name: 'Compare with the previous' }).click()
      await page
        .getByRole('region', { name: /^Difference of/ })
        .getByText(MARKUP)
        .waitFor()
      await page.getByRole('link', { name: 'Register a new version' }).click()
      await page.locator('.verdict').getByText('Compatible', { exact: true }).waitFor()
    }
    // The level of the subject, not of all subjects.
    await showView(page, 'subjects/..')
    const level = page.locator('xpath=//h3[.="Compatibility level"]/following-sibling::div[@class="filters"][1]')
    await level.getByRole('combobox').selectOption('NONE')
    await level.getByRole('button', { name: /^Change / }).click()
    await page.getByText(/^Set the compatibility level of subject .* to NONE/).waitFor()
    expect((await registry.call('GET', '/config')).body).toEqual({ compatibilityLevel: 'BACKWARD' })
    expect(await page.locator('img, main script').count()).toBe(0)
  })
})
