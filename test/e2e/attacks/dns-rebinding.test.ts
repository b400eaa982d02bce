import { chromium } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { REBOUND_HOST } from '../../env/chromium.ts'
import { describeOn, real } from '../../env/real.ts'
import { startTestRegistry } from '../../support/registry.ts'

const browser = await real('chromium')

const TIMEOUT_MS = 60_000

/** Requests of a page that hides what identifies a browser, as far as it can. */
const ATTEMPTS = {
  'a plain request': `fetch('/subjects').then((response) => response.status)`,
  'a request with other headers': `fetch('/subjects', {
    headers: { 'Accept-Language': '', Origin: '', 'Sec-Fetch-Site': '', 'User-Agent': 'curl/8.5.0' },
    referrerPolicy: 'no-referrer',
  }).then((response) => response.status)`,
  'an XMLHttpRequest': `new Promise((resolve) => {
    const request = new XMLHttpRequest()
    request.onloadend = () => resolve(request.status)
    request.open('GET', '/subjects')
    request.setRequestHeader('Accept-Language', '')
    request.send()
  })`,
  'a change': `fetch('/config', {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: '{"compatibility":"NONE"}',
  }).then((response) => response.status)`,
}

describeOn([browser], 'a page that uses DNS rebinding to reach a local server without authentication', () => {
  it.each(Object.entries(ATTEMPTS))('gets no response by %s', async (_, attempt) => {
    const { url } = await startTestRegistry()
    const { port } = new URL(url)
    const connection = await chromium.connectOverCDP(browser.address.url)
    onTestFinished(() => connection.close())
    const page = await (await connection.newContext()).newPage()
    page.setDefaultTimeout(TIMEOUT_MS)
    const statusAt = async (host: string) => {
      // Any response is a page of this origin. Chromium does not permit a page from elsewhere to request a local address.
      await page.goto(`http://${host}:${port}/subjects`)
      return page.evaluate(attempt)
    }
    expect([await statusAt('localhost'), await statusAt(REBOUND_HOST)]).toEqual([200, 403])
  })
})
