import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { countedOf } from '../../../src/common/counted.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { createMetrics } from '../../../src/common/metrics-registry.ts'
import { ChangeFeed } from '../../../src/console/change-feed.ts'
import { consoleRoutes } from '../../../src/console/routes/console-routes.ts'
import { HttpError } from '../../../src/http/http-error.ts'
import { startHttpServer } from '../../../src/http/server.ts'
import { describeOn, real } from '../../env/real.ts'
import { expectAccessible, openConsole, showView, takePicture } from '../../support/console-page.ts'
import { startTestRegistry } from '../../support/registry.ts'

const chromium = await real('chromium')

const CONNECTORS = 10_000
/** Rows in the document: the visible ones, and a margin. */
const ROWS_MAX = 100
const HOSTILE = '<img src=x onerror="alert(1)">'
const HOSTILE_NAMES = [
  HOSTILE,
  'javascript:alert(1)',
  'a/b/../c?d=e#f',
  '100%25 of %2F & "quotes" \'single\'',
  '\u202eright to left\u202c مرحبا',
  '🐘 elephants 👩‍👩‍👧',
  '{{constructor}} ${name} __proto__',
  `long ${'x'.repeat(900)}`,
]

/**
 * Jumps through the whole table, one step in each frame. Returns the durations of the frames in order of length, and how
 * many rows the document had at most. As text, because the types of browsers are not those of tests.
 */
const SCROLL = `(async () => {
  const body = document.querySelector('[role=rowgroup][tabindex]')
  const durations = []
  let rowsMax = 0
  let lastMs = await new Promise(requestAnimationFrame)
  for (let at = 0; at < 120; at++) {
    body.scrollTop = ((at * 997) % 120) * (body.scrollHeight / 120)
    const nowMs = await new Promise(requestAnimationFrame)
    durations.push(nowMs - lastMs)
    lastMs = nowMs
    rowsMax = Math.max(rowsMax, body.querySelectorAll('[role=row]').length)
  }
  body.scrollTop = body.scrollHeight
  return { frames: durations.sort((a, b) => a - b), rowsMax }
})()`

type Connectors = Readonly<Record<string, { readonly info: object; readonly status: object }>>

function connector(name: string, trace?: string): Connectors[string] {
  const instance = {
    state: trace === undefined ? 'RUNNING' : 'FAILED',
    worker_id: '10.0.0.7:8083',
    ...(trace ? { trace } : {}),
  }
  const config = { name, 'connector.class': 'io.example.FileStreamSource', file: `/data/${name}`, note: HOSTILE }
  return {
    info: { name, type: 'source', config, tasks: [] },
    status: {
      name,
      type: 'source',
      connector: { state: 'RUNNING', worker_id: '10.0.0.7:8083' },
      tasks: [{ id: 0, ...instance }],
    },
  }
}

/** Serves the console of a worker whose connectors do not run. */
async function startConnectors(connectors: Connectors): Promise<string> {
  const changes = new ChangeFeed()
  const runtimes = [{ kind: 'worker', name: 'worker', basePath: '' }] as const
  const find = (name: string) => {
    const found = connectors[name]
    if (found === undefined) throw new HttpError(404, `Connector ${name} not found`)
    return found
  }
  const server = await startHttpServer({
    listeners: ['http://127.0.0.1:0'],
    logger: silentLogger(),
    metrics: createMetrics(),
    isReady: () => true,
    consumes: ['application/json'],
    produces: ['application/json'],
    routes: (app) => {
      consoleRoutes(app, { program: 'worker', runtimes: () => runtimes, changes })
      app.get('/connectors', async () => connectors)
      app.get<{ Params: { name: string } }>('/connectors/:name', async ({ params }) => find(params.name).info)
      app.get<{ Params: { name: string } }>('/connectors/:name/status', async ({ params }) => find(params.name).status)
    },
  })
  onTestFinished(async () => {
    changes.close()
    await server.stop(0)
  })
  return server.urls[0] ?? ''
}

describeOn([chromium], 'the console in a browser', () => {
  it('shows 10,000 connectors by rendering the visible rows only', async () => {
    const names = Array.from({ length: CONNECTORS }, (_, at) => `connector-${String(at).padStart(5, '0')}`)
    const failed = 'connector-07777'
    const trace = 'Error: the table orders does not exist\n\tat poll (orders.ts:1)'
    const url = await startConnectors(
      Object.fromEntries(names.map((name) => [name, connector(name, name === failed ? trace : undefined)])),
    )
    const page = await openConsole(chromium.address.url, url, { viewport: { width: 1_200, height: 800 } })
    await showView(page, 'connectors')
    await page.getByText(countedOf(CONNECTORS, CONNECTORS)).waitFor()
    // The failed one is first.
    const rows = page.getByRole('row')
    expect(await rows.nth(1).textContent()).toContain(failed)
    const { frames, rowsMax } = (await page.evaluate(SCROLL)) as { frames: readonly number[]; rowsMax: number }
    console.log(
      `frames while scrolling ${CONNECTORS} rows: median ${frames[60]?.toFixed(1)} ms, longest ${frames.at(-1)?.toFixed(1)} ms`,
    )
    expect(rowsMax).toBeGreaterThan(10)
    expect(rowsMax).toBeLessThan(ROWS_MAX)
    await page.getByText('connector-09999').waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('connector-0123')
    await page.getByText(countedOf(10, CONNECTORS)).waitFor()
    await expect.poll(() => page.url()).toContain('search=connector-0123')
  })

  it('shows names and traces of connectors as text, and links to each of them', async () => {
    const url = await startConnectors(
      Object.fromEntries(HOSTILE_NAMES.map((name) => [name, connector(name, `${HOSTILE}\n\tat ${name}`)])),
    )
    const page = await openConsole(chromium.address.url, url)
    for (const name of HOSTILE_NAMES) {
      await showView(page, 'connectors')
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1 }).getByText(name).waitFor()
      await page.locator('pre').getByText(`at ${name}`).first().waitFor()
      await page.getByText(`/data/${name}`, { exact: true }).waitFor()
    }
    expect(await page.locator('img').count()).toBe(0)
    await showView(page, '')
    await page.getByText(HOSTILE, { exact: true }).first().waitFor()
  })

  it('says that a connector does not exist, also if it is deleted while it is shown', async () => {
    const connectors: Record<string, Connectors[string]> = { orders: connector('orders') }
    const page = await openConsole(chromium.address.url, await startConnectors(connectors))
    await showView(page, 'connectors/orders')
    await page.getByRole('heading', { name: 'Configuration' }).waitFor()
    delete connectors['orders']
    await page.reload()
    await page.getByRole('alert').getByText('Connector orders not found').waitFor()
    await showView(page, 'nowhere/at/all')
    await page.getByText('There is no such page').waitFor()
  })

  it('is accessible, fits into 380 px and is usable with the keyboard', async () => {
    const trace = 'Error: the table orders does not exist\n\tat poll (orders.ts:1)'
    const names = ['orders', 'payments', 'shipments']
    const url = await startConnectors(
      Object.fromEntries(names.map((name) => [name, connector(name, name === 'orders' ? trace : undefined)])),
    )
    const page = await openConsole(chromium.address.url, url)
    const views = [
      ['overview', '', 'Needs attention'],
      ['connectors', 'connectors', '3 of 3'],
      ['connector', 'connectors/orders', 'Configuration'],
    ] as const
    for (const [view, hash, shown] of views) {
      await page.setViewportSize({ width: 1_000, height: 620 })
      await showView(page, hash)
      await page.getByText(shown).first().waitFor()
      await expectAccessible(page, view)
      if (view === 'connector') await takePicture(page, view)
      await page.setViewportSize({ width: 380, height: 700 })
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      expect([view, await page.evaluate(overflow)]).toEqual([view, 0])
    }
    await page.setViewportSize({ width: 1_000, height: 620 })
    await showView(page, 'connectors')
    // The focus is at the top of a new page.
    await page.reload()
    await page.getByText('3 of 3').waitFor()
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    for (let presses = 0; presses < 30 && (await focused(page)) !== 'orders'; presses++)
      await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('orders')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /orders/ }).waitFor()
  })

  it('shows subjects and schema texts of a registry as text', async () => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const schema = JSON.stringify({
      type: 'record',
      name: 'Order',
      doc: HOSTILE,
      fields: [{ name: 'id', type: 'long' }],
    })
    const subjects = ['orders-value', HOSTILE, ':.team:a/b%2F?c=d', '🐘']
    for (const subject of subjects)
      expect(
        (await registry.call('POST', `/subjects/${encodeURIComponent(subject)}/versions`, { schema })).status,
      ).toBe(200)
    const page = await openConsole(chromium.address.url, registry.url)
    await page.getByRole('link', { name: '4 subjects' }).click()
    for (const subject of subjects) {
      await showView(page, 'subjects')
      await page.getByText('4 of 4').waitFor()
      const [, name = ''] = /^(?::[^:]*:)?(.*)$/.exec(subject) ?? []
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1 }).getByText(subject, { exact: true }).waitFor()
      await page.locator('pre').getByText('"name": "Order"').first().waitFor()
    }
    expect(await page.locator('img').count()).toBe(0)
    for (const [view, hash, shown] of [
      ['subjects', 'subjects', '4 of 4'],
      ['subject', 'subjects/orders-value', '"name": "Order"'],
    ] as const) {
      await showView(page, hash)
      await page.getByText(shown).first().waitFor()
      await expectAccessible(page, view)
    }
  })
})

function focused(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.textContent.trim()')
}
