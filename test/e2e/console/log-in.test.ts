import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { openConsole, showView } from '../../support/console-page.ts'
import { AUDIENCE, startIssuer } from '../../support/issuer.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { startTestWorker } from '../../support/worker.ts'

const chromium = await real('chromium')

const SOURCE = { name: 'lines', 'connector.class': 'FileStreamSource', topic: 'lines', file: '/dev/null' }

async function logIn(page: Page, user: string, password = user): Promise<void> {
  await page.getByLabel('User; empty for a token').fill(user)
  await page.getByLabel('Password or token').fill(password)
  await page.getByRole('dialog').getByRole('button', { name: 'Log in' }).click()
}

describeOn([chromium], 'the console of a worker with authentication', () => {
  it('asks for a password, offers what the role may do, and asks again when the user is removed', async () => {
    const settings = await basicAuthSettings({ root: 'admin', eye: 'readonly' })
    const { 'weir.authentication.users': users = '', ...others } = settings
    const file = join(temporaryDirectory(), 'users')
    writeFileSync(file, users)
    const { url } = await startTestWorker({
      ...others,
      'weir.authentication.users.file': file,
      'connector.paths.allowed': '/',
    })
    expect((await callAs('root', url, 'POST /connectors', { name: 'lines', config: SOURCE })).status).toBe(201)

    const page = await openConsole(chromium.address.url, url)
    const dialog = page.getByRole('dialog', { name: 'Log in' })
    await dialog.waitFor()
    expect(await page.getByText('lines').count()).toBe(0)
    // Nothing can be done without an answer.
    for (let presses = 0; presses < 2; presses++) await page.keyboard.press('Escape')
    await logIn(page, 'eye', 'wrong')
    await dialog.waitFor()
    expect(await page.getByText('lines').count()).toBe(0)
    await logIn(page, 'eye')
    await dialog.waitFor({ state: 'detached' })
    await showView(page, 'connectors/lines')
    await page.getByRole('heading', { name: 'Configuration' }).waitFor()
    expect(await page.getByRole('button', { name: /^(?:Pause|Stop|Delete|Restart)/ }).count()).toBe(0)

    await page.getByRole('button', { name: 'Log out' }).click()
    await logIn(page, 'root')
    await page.getByRole('button', { name: 'Delete lines' }).waitFor()

    // Without the user root.
    writeFileSync(file, users.replace(/^root:.*$/m, ''))
    await dialog.waitFor()
    // The events of the former user end.
    await page.getByText('reading periodically').waitFor()
    await logIn(page, 'eye')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('banner').getByText('eye').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Delete lines' }).count()).toBe(0)
  })

  it('asks for another token when one has expired, and keeps an edit that is not saved', async () => {
    const issuer = await startIssuer([{ id: 'platform', roles: ['admin'] }], { secondsToLive: 20 })
    onTestFinished(() => issuer.stop())
    const { url } = await startTestWorker({
      'authentication.method': 'BEARER',
      'oauthbearer.expected.issuer': issuer.url,
      'oauthbearer.expected.audience': AUDIENCE,
      'oauthbearer.roles.claim.name': 'realm_access.roles',
      'oauthbearer.clock.skew.seconds': '0',
      'connector.paths.allowed': '/',
    })
    const authorization = `Bearer ${await issuer.token('platform')}`
    const body = { name: 'lines', config: SOURCE }
    expect((await callAs(undefined, url, 'POST /connectors', body, { authorization })).status).toBe(201)
    const page = await openConsole(chromium.address.url, url)
    const dialog = page.getByRole('dialog', { name: 'Log in' })
    await dialog.waitFor()
    await logIn(page, '', await issuer.token('platform'))
    await dialog.waitFor({ state: 'detached' })
    await showView(page, 'connectors/lines/edit')
    await page.getByLabel(/^topic /).fill('others')
    await page.getByText('Changes topic.').waitFor()
    await dialog.waitFor()
    await logIn(page, '', await issuer.token('platform'))
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Changes topic.').waitFor()
  })
})
