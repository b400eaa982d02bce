import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createLogger } from '../../../src/common/logging/logger.ts'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { describeOn, real } from '../../env/real.ts'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { expectAccessible, openConsole, showView } from '../../support/console-page.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { startUp } from '../../support/up.ts'
import { startTestWorker } from '../../support/worker.ts'
import { clientOf, untilRunning, WorkerGroup } from '../../support/worker-group.ts'

const chromium = await real('chromium')
const kafka = await real('kafka')

/** Samples are taken every 10 s, and the page reads them every 15 s. */
const SAMPLED = { timeout: 120_000 }
const PHONE = { width: 380, height: 700 }
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
const HOSTILE = '<img src=x onerror=alert(1)>'

/** A sink that skips each record of the topic, because its text is not JSON. */
function failingSink(topic: string, file: string): Readonly<Record<string, string>> {
  return {
    'connector.class': 'FileStreamSink',
    topics: topic,
    file,
    'key.converter': 'StringConverter',
    'value.converter': 'JsonConverter',
    'errors.tolerance': 'all',
    'errors.log.enable': 'true',
  }
}

describeOn([chromium, kafka], 'the console of a group of workers', () => {
  it('shows the metrics and the log of a connector whose tasks run on several workers', async () => {
    const directory = temporaryDirectory()
    const group = new WorkerGroup(kafka.address.bootstrap, { 'connector.paths.allowed': directory })
    const [first, second] = await group.start(2)
    const topic = `${group.id}-records`
    const client = clientOf(first!)
    await client.create('gen', {
      'connector.class': 'Datagen',
      'kafka.topic': topic,
      rate: '50',
      'tasks.max': '2',
      'value.converter': 'StringConverter',
    })
    await untilRunning(first!, 'gen', [
      [first!, 1],
      [second!, 1],
    ])
    await client.create('bad', failingSink(topic, join(directory, 'out')))
    // The second worker is not the leader of the group, so it knows the tasks of the other one from it.
    const page = await openConsole(chromium.address.url, second!.url)
    await showView(page, 'connectors/gen')
    await page.getByText('Last start:').waitFor()
    await page.getByRole('link', { name: 'Metrics' }).click()
    const hosts = [first!, second!].map(({ url }) => new URL(url).host)
    const recorded = page.getByText('Recorded every 10 s by')
    await recorded.waitFor(SAMPLED)
    for (const host of hosts) await recorded.getByText(host).waitFor(SAMPLED)
    // Both tasks together.
    await expect
      .poll(
        async () =>
          Number(await page.getByRole('listitem').filter({ hasText: 'polled' }).getByRole('strong').textContent()),
        SAMPLED,
      )
      .toBeGreaterThan(60)
    await page.getByRole('img', { name: /^Throughput of the last hour in records\/s: at most / }).waitFor()
    await page.getByText('Table of throughput').click()
    await page.getByRole('columnheader', { name: 'written to topics' }).waitFor()
    await expectAccessible(page, 'metrics')

    await showView(page, 'connectors/bad/metrics')
    await expect
      .poll(
        async () => page.getByRole('listitem').filter({ hasText: 'failed' }).getByRole('strong').textContent(),
        SAMPLED,
      )
      .toMatch(/^[1-9]/)
    await page.setViewportSize(PHONE)
    expect(await page.evaluate(OVERFLOW)).toBe(0)
    await page.setViewportSize({ width: 1_200, height: 800 })

    await showView(page, 'connectors?sort=errors')
    await page.getByRole('columnheader', { name: 'Errors/h' }).waitFor()
    await expect.poll(async () => page.getByRole('row').nth(1).textContent()).toMatch(/^bad/)
    await showView(page, 'connectors?sort=rate')
    await expect.poll(async () => page.getByRole('row').nth(1).textContent()).toMatch(/^gen/)

    await page.getByRole('link', { name: 'bad', exact: true }).click()
    await page.getByRole('link', { name: 'Log' }).click()
    const lines = page.getByRole('list', { name: 'Log lines' }).getByRole('listitem')
    await lines.filter({ hasText: 'a record failed' }).first().waitFor()
    const countBefore = await lines.count()
    await expect.poll(() => lines.count()).toBeGreaterThan(countBefore)
    await expectAccessible(page, 'log')
    await page.setViewportSize(PHONE)
    expect(await page.evaluate(OVERFLOW)).toBe(0)
    await page.getByLabel('Search the log').fill('partitions were')
    await expect.poll(() => lines.count()).toBe(1)
    await page.getByLabel('Lowest level').selectOption('error')
    await page.getByText('No line matches.').waitFor()
    expect(page.url()).toContain('level=error')

    await page.getByLabel('New level').selectOption('OFF')
    await page.getByRole('button', { name: 'Set the level' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Set the level' }).click()
    await page.getByText('Set the level of weir.worker.tasks to OFF.').waitFor()
    await page.getByText('The level is OFF: no line is written').waitFor()
    for (const { url } of [first!, second!]) {
      await expect
        .poll(async () => (await fetch(`${url}/admin/loggers/weir.worker.tasks`)).json())
        .toMatchObject({ level: 'OFF' })
    }
  })
})

describeOn([chromium], 'the log of a connector in the console', () => {
  it('is text, also for a user who may only read, who cannot change its level', async () => {
    const directory = temporaryDirectory()
    const file = join(directory, HOSTILE)
    const { url } = await startTestWorker(
      { ...(await basicAuthSettings({ root: 'admin', eye: 'readonly' })), 'connector.paths.allowed': directory },
      { logger: createLogger({ write: () => undefined }) },
    )
    const config = { name: 'lines', 'connector.class': 'FileStreamSource', topic: 'lines', file }
    expect((await callAs('root', url, 'POST /connectors', { name: 'lines', config })).status).toBe(201)
    const page = await openConsole(chromium.address.url, url)
    await page.getByLabel('User; empty for a token').fill('eye')
    await page.getByLabel('Password or token').fill('eye')
    await page.getByRole('dialog').getByRole('button', { name: 'Log in' }).click()
    await showView(page, 'connectors/lines/log')
    await page.getByText('Lines of level INFO and above').waitFor()
    const lines = page.getByRole('list', { name: 'Log lines' }).getByRole('listitem')
    await lines.filter({ hasText: HOSTILE }).first().waitFor()
    expect([
      await page.getByRole('button', { name: 'Set the level' }).count(),
      await page.locator('img').count(),
    ]).toEqual([0, 0])
    // Deleted while it is open.
    expect((await callAs('root', url, 'DELETE /connectors/lines')).status).toBe(204)
    await page.getByText('It has been deleted, or was never created.').waitFor()
  })

  it('is beside the next restart of a failed connector where an operator runs', async () => {
    const directory = temporaryDirectory()
    mkdirSync(join(directory, 'manifests'))
    writeFileSync(
      join(directory, 'manifests', 'failing.yaml'),
      JSON.stringify({
        apiVersion: API_VERSION,
        kind: 'Connector',
        metadata: { name: 'failing' },
        spec: {
          class: 'FileStreamSink',
          autoRestart: { initialBackoff: '1h', maxBackoff: '1h' },
          config: { topics: 'lines', file: 'missing/directory/out.txt' },
        },
      }),
    )
    const up = await startUp({ manifests: 'manifests', directory, log: ['--data', join(directory, 'data')] })
    const page = await openConsole(chromium.address.url, await up.untilConsole())
    await showView(page, 'connectors/failing')
    await page.getByText('Next automatic restart:').waitFor()
  })
})
