import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { describeOn, real } from '../../env/real.ts'
import { openConsole, pressAndConfirm, takePicture } from '../../support/console-page.ts'
import { startRegistryProcess } from '../../support/registry-process.ts'

const chromium = await real('chromium')
const kafka = await real('kafka')

/** A registry on Kafka, its console, and its REST API, which shows what an action of the console has done. */
async function openRegistry() {
  const name = `console-${randomUUID()}`
  const settings = { 'brokerstore.topic': `_schemas-${name}`, 'schema.registry.group.id': name }
  const registry = await startRegistryProcess(['--bootstrap', kafka.address.bootstrap], settings)
  onTestFinished(() => registry.kill())
  const client = createRegistryClient({ url: registry.url })
  const page = await openConsole(chromium.address.url, registry.url)
  await page.getByText('live', { exact: true }).waitFor()
  return { client, page }
}

/** The type of the field `id` is in line 5. */
function orderSchema(idType: string, ...others: readonly string[]): string {
  const fields = [`{ "name": "id", "type": "${idType}" }`, ...others].join(',\n    ')
  return `{\n  "type": "record",\n  "name": "Order",\n  "fields": [\n    ${fields}\n  ]\n}`
}

const NOTE = '{ "name": "note", "type": "string", "default": "" }'

/** From any view: the list of subjects, then one of them. */
async function openSubject(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name: 'Subjects', exact: true }).first().click()
  await page.getByRole('table', { name: 'Subjects' }).getByRole('link', { name, exact: true }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

/** Opens the draft of a new subject. */
async function beginSubject(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name: 'Subjects', exact: true }).first().click()
  await page.getByText('New subject').click()
  await page.getByLabel(/^Name, such as/).fill(name)
  await button(page, 'Write its first schema').click()
}

async function setLevel(page: Page, title: string, level: string): Promise<void> {
  await chooseLevel(page, title, level)
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Change / })
    .click()
}

/** The level of one subject is changed without a question. */
async function chooseLevel(page: Page, title: string, level: string): Promise<void> {
  await setting(page, title).getByRole('combobox').selectOption(level)
  await setting(page, title)
    .getByRole('button', { name: /^Change / })
    .click()
}

/** The heading of a setting is followed by its text and its form. */
const setting = (page: Page, title: string) =>
  page.locator(`xpath=//h3[.="${title}"]/following-sibling::div[@class="filters"][1]`)
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const confirm = (page: Page, name: string | RegExp) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true })

describeOn([chromium, kafka], 'the console of a registry on Kafka', () => {
  it('registers drafts, and marks the line of an incompatible one', async () => {
    const { page, client } = await openRegistry()
    const draft = page.getByLabel('Schema', { exact: true })
    const verdict = page.locator('.verdict')

    await beginSubject(page, 'orders-value')
    await draft.fill(orderSchema('long').slice(0, -1))
    await verdict.getByText('Not valid').waitFor()
    await draft.fill(orderSchema('long'))
    await verdict.getByText('Compatible', { exact: true }).waitFor()
    await button(page, 'Register').click()
    await page.getByRole('heading', { level: 2, name: 'Version 1' }).waitFor()
    expect(JSON.parse((await client.latest('orders-value')).schema)).toEqual(JSON.parse(orderSchema('long')))

    await page.getByRole('link', { name: 'Register a new version' }).click()
    // It begins with the latest version.
    await expect.poll(() => draft.inputValue()).toContain('"name": "Order"')
    await draft.fill(orderSchema('string', NOTE))
    await verdict.getByText('Not compatible, or not valid').waitFor()
    await verdict.getByText('Line 5:').first().waitFor()
    expect(await page.locator('.editor .marked').allTextContents()).toEqual(['● 5'])
    await takePicture(page, 'draft')
    await button(page, 'Register').click()
    await page.getByText('Registered the schema of orders-value: failed.').waitFor()
    expect(await client.versions('orders-value')).toEqual([1])
    await draft.fill(orderSchema('long', NOTE))
    await verdict.getByText('Compatible', { exact: true }).waitFor()
    await button(page, 'Register').click()
    await page.getByRole('heading', { level: 2, name: 'Version 2' }).waitFor()
    expect(await client.versions('orders-value')).toEqual([1, 2])
  })

  it('deletes, restores and permanently deletes versions after it has named what depends on them', async () => {
    const { page, client } = await openRegistry()
    for (const schema of [orderSchema('long'), orderSchema('long', NOTE)]) await client.register('order', { schema })
    const references = [{ name: 'Order', subject: 'order', version: 2 }]
    const referrer = { type: 'record', name: 'Invoice', fields: [{ name: 'order', type: 'Order' }] }
    await client.register('invoice', { schema: JSON.stringify(referrer), references })

    await openSubject(page, 'order')
    await button(page, 'Delete version').click()
    await page.getByRole('dialog').getByText('The registry refuses this while these refer to it').waitFor()
    await page.getByRole('dialog').getByText('invoice version 1').waitFor()
    await confirm(page, 'Delete version').click()
    await page.getByText('Deleted version 2 of order: failed.').waitFor()
    expect(await client.versions('order')).toEqual([1, 2])

    await page.getByRole('combobox', { name: 'Version', exact: true }).selectOption('1')
    await page.getByRole('heading', { level: 2, name: 'Version 1' }).waitFor()
    await button(page, 'Delete version').click()
    await page.getByRole('dialog').getByText('No schema of another subject refers to it.').first().waitFor()
    await confirm(page, 'Delete version').click()
    await page.getByText('Deleted version 1 of order.').waitFor()
    expect(await client.versions('order')).toEqual([2])
    await pressAndConfirm(page, 'Restore version 1')
    await page.getByText('Restored version 1 of order.').waitFor()
    expect(await client.versions('order')).toEqual([2, 3])

    await page.getByRole('heading', { level: 2, name: 'Version 3' }).waitFor()
    await pressAndConfirm(page, 'Delete version')
    await page.getByText('Deleted version 3 of order.').waitFor()
    expect(await client.versions('order', { deleted: true })).toEqual([2, 3])
    await page.getByRole('combobox', { name: 'Version', exact: true }).selectOption('3')
    await pressAndConfirm(page, 'Delete version permanently')
    await page.getByText('Permanently deleted version 3 of order.').waitFor()
    expect(await client.versions('order', { deleted: true })).toEqual([2])

    await openSubject(page, 'invoice')
    await pressAndConfirm(page, 'Delete subject')
    await page.getByText('Deleted invoice.').waitFor()
    expect(await client.subjects()).toEqual(['order'])
    expect(await client.subjects({ deleted: true })).toEqual(['invoice', 'order'])
    await button(page, 'Delete subject permanently').click()
    await page.getByRole('dialog').getByText('This cannot be undone.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect(await client.subjects({ deleted: true })).toEqual(['invoice', 'order'])
    await pressAndConfirm(page, 'Delete subject permanently')
    await page.getByText('Permanently deleted invoice.').waitFor()
    expect(await client.subjects({ deleted: true })).toEqual(['order'])
  })

  it('changes levels and modes, and opens and ends an import window', async () => {
    const { page, client } = await openRegistry()
    await client.register('order', { schema: orderSchema('long') })
    await client.register(':.import:old', { schema: orderSchema('long') })

    await openSubject(page, 'order')
    await chooseLevel(page, 'Compatibility level', 'FULL_TRANSITIVE')
    await page.getByText('Set the compatibility level of subject order to FULL_TRANSITIVE.').waitFor()
    expect((await client.config('order')).compatibility).toBe('FULL_TRANSITIVE')
    await setting(page, 'Compatibility level').getByRole('button', { name: 'Inherit' }).click()
    await confirm(page, /^Inherit /).click()
    await page.getByText('Removed the compatibility level of subject order.').waitFor()
    await expect(client.config('order')).rejects.toMatchObject({ status: 404 })
    await setLevel(page, 'Mode', 'READONLY')
    await page.getByText('Set the mode of subject order to READONLY.').waitFor()
    expect(await client.mode('order')).toBe('READONLY')
    await setting(page, 'Mode').getByRole('button', { name: 'Inherit' }).click()
    await confirm(page, /^Inherit /).click()
    await page.getByText('Removed the mode of subject order.').waitFor()
    expect(await client.mode('order', { effective: true })).toBe('READWRITE')

    await page.getByRole('link', { name: 'Subjects', exact: true }).first().click()
    await button(page, 'Compatibility and mode').click()
    await setLevel(page, 'Compatibility level', 'NONE')
    await page.getByText('Set the compatibility level of all subjects to NONE.').waitFor()
    expect((await client.config()).compatibility).toBe('NONE')
    await setLevel(page, 'Mode', 'IMPORT')
    await page.getByText('Set the mode of all subjects to IMPORT: failed.').waitFor()
    expect(await client.mode()).toBe('READWRITE')

    // A window can be opened where there is no schema: the one of the context is deleted first.
    await openSubject(page, 'old')
    await pressAndConfirm(page, 'Delete subject')
    await page.getByText('Deleted :.import:old.').waitFor()
    await page.getByRole('link', { name: 'Subjects', exact: true }).first().click()
    await page.getByLabel('with deleted').check()
    await page.getByRole('combobox', { name: 'Context', exact: true }).selectOption('.import')
    await button(page, 'Compatibility and mode').click()
    await setLevel(page, 'Mode', 'IMPORT')
    await page.getByText('Set the mode of context .import to IMPORT.').waitFor()
    expect(await client.mode(':.import:')).toBe('IMPORT')
    await client.register(':.import:orders', { schema: orderSchema('long'), id: 4711, version: 3 })
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await page.getByText('An import window is open').waitFor()
    await page.getByRole('link', { name: 'context .import' }).click()
    await setLevel(page, 'Mode', 'READWRITE')
    await page.getByText('Set the mode of context .import to READWRITE.').waitFor()
    expect(await client.mode(':.import:', { effective: true })).toBe('READWRITE')
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await page.getByText('compatibility NONE').waitFor()
    await expect.poll(() => page.getByText('An import window is open').count()).toBe(0)
  })
})
