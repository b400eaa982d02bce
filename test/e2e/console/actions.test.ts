import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { createWorkerClient, type WorkerClient } from '../../../src/clients/worker-client.ts'
import { freePort } from '../../env/ports.ts'
import { describeOn, real } from '../../env/real.ts'
import { expectAccessible, openConsole, pressAndConfirm, takePicture } from '../../support/console-page.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'

const chromium = await real('chromium')
const kafka = await real('kafka')

const WAIT = { everyMs: 100, timeoutMs: 120_000 }

/** A worker on Kafka, its console, and its REST API, which shows what an action of the console has done. */
async function openWorker() {
  const groupId = `console-${randomUUID()}`
  const url = `http://127.0.0.1:${await freePort()}`
  const settings = {
    listeners: url,
    'connector.paths.allowed': '/',
    'offset.flush.interval.ms': '500',
    // A worker that was killed and started again waits for the session of the former one.
    'session.timeout.ms': '6000',
    'heartbeat.interval.ms': '500',
    'scheduled.rebalance.max.delay.ms': '0',
  }
  const start = () => startWorkerProcess({ log: ['--bootstrap', kafka.address.bootstrap], groupId, settings })
  let worker = await start()
  onTestFinished(() => worker.kill())
  const client = createWorkerClient({ url })
  const page = await openConsole(chromium.address.url, url)
  await page.getByText('live', { exact: true }).waitFor()
  return {
    groupId,
    client,
    page,
    kill: () => worker.kill(),
    restart: async () => {
      worker = await start()
    },
  }
}

/** From any view: the list of connectors, then one of them. */
async function openConnector(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name: 'Connectors', exact: true }).first().click()
  await page.getByRole('table', { name: 'Connectors' }).getByRole('link', { name, exact: true }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

async function untilStates(client: WorkerClient, name: string, expected: string): Promise<void> {
  let states = 'without a status'
  await until(`${name} to be ${expected}`, WAIT, async () => {
    const status = await client.status(name).catch(() => undefined)
    if (status === undefined) return false
    const { connector, tasks } = status
    states = [connector.state, ...tasks.map(({ state }) => state)].join(' ')
    return states === expected
  }).catch((error: Error) => {
    throw new Error(`${error.message}; it is ${states}`)
  })
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

describeOn([chromium, kafka], 'the console of a worker on Kafka', () => {
  it('creates connectors in the form and as JSON, and changes one while the worker validates it', async () => {
    const { page, client, groupId } = await openWorker()
    const topic = `${groupId}-users`

    await page.getByRole('link', { name: 'Connectors', exact: true }).click()
    await page.getByRole('link', { name: 'Create a connector' }).click()
    await page.getByLabel('Plugin').selectOption('io.confluent.kafka.connect.datagen.DatagenConnector')
    await page.getByLabel('Name', { exact: true }).fill('made in the form')
    await page.getByLabel('kafka.topic (required)').fill(topic)
    await page.getByLabel('quickstart', { exact: true }).fill('nothing')
    await page.locator('.field .error').getByText('nothing').first().waitFor()
    await page.getByLabel('quickstart', { exact: true }).fill('users')
    await page.getByText('The worker finds no error.').waitFor()
    await button(page, 'Create').click()
    await page.getByRole('heading', { level: 1, name: 'made in the form' }).waitFor()
    expect((await client.get('made in the form')).config).toEqual({
      name: 'made in the form',
      'connector.class': 'io.confluent.kafka.connect.datagen.DatagenConnector',
      'kafka.topic': topic,
      quickstart: 'users',
    })
    await untilStates(client, 'made in the form', 'RUNNING RUNNING')
    await page
      .getByRole('row', { name: /task 0/ })
      .getByText('RUNNING')
      .waitFor()

    const file = join(temporaryDirectory(), 'users.txt')
    const config = { 'connector.class': 'FileStreamSink', topics: topic, file, 'value.converter': 'StringConverter' }
    await page.getByRole('link', { name: 'Connectors', exact: true }).first().click()
    await page.getByRole('link', { name: 'Create a connector' }).click()
    const json = page.getByLabel('Configuration as JSON')
    await json.fill('{"name": "made as JSON"')
    await page.getByRole('alert').getByText('The text is not JSON').waitFor()
    expect(await button(page, 'Create').isDisabled()).toBe(true)
    await json.fill(JSON.stringify({ name: 'made as JSON', config }))
    await page.getByText('The worker finds no error.').waitFor()
    await page.getByLabel('Initial state').selectOption('STOPPED')
    await button(page, 'Create').click()
    await page.getByRole('heading', { level: 1, name: 'made as JSON' }).waitFor()
    expect((await client.get('made as JSON')).config).toEqual({ name: 'made as JSON', ...config })
    await untilStates(client, 'made as JSON', 'STOPPED')

    await openConnector(page, 'made in the form')
    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    const rate = page.getByLabel('rate', { exact: true })
    await rate.fill('fast')
    await page.getByText('Errors that the worker finds: 1.').waitFor()
    expect(await rate.getAttribute('aria-invalid')).toBe('true')
    await takePicture(page, 'edit')
    await rate.fill('7')
    await page.getByText('The worker finds no error.').waitFor()
    await page.getByText('Changes rate.').waitFor()
    await button(page, 'Save').click()
    await page.getByText('Changed the configuration of made in the form.').waitFor()
    expect((await client.get('made in the form')).config).toMatchObject({ rate: '7', quickstart: 'users' })
  })

  it('pauses, resumes, stops, restarts and deletes a connector, and recovers when its worker does', async () => {
    const { page, client, groupId, kill, restart } = await openWorker()
    const topic = `${groupId}-lines`
    const directory = join(temporaryDirectory(), 'created later')
    await client.create('made', { 'connector.class': 'Datagen', 'kafka.topic': topic, rate: '5' })
    const file = join(directory, 'lines.txt')
    await client.create('broken', { 'connector.class': 'FileStreamSink', topics: topic, file, 'tasks.max': '1' })
    await untilStates(client, 'broken', 'RUNNING FAILED')

    // One click from the overview.
    await page.getByRole('link', { name: 'broken', exact: true }).click()
    await page.getByText(`cannot open '${file}'`).first().waitFor()
    mkdirSync(directory)
    await page
      .getByRole('row', { name: /task 0/ })
      .getByRole('button', { name: 'Restart' })
      .click()
    await page.getByText('Restarted task 0 of broken.').waitFor()
    await untilStates(client, 'broken', 'RUNNING RUNNING')

    await openConnector(page, 'made')
    await button(page, 'Pause made').click()
    await button(page, 'Resume made').waitFor()
    await untilStates(client, 'made', 'PAUSED PAUSED')
    await button(page, 'Resume made').click()
    await button(page, 'Pause made').waitFor()
    await untilStates(client, 'made', 'RUNNING RUNNING')
    await pressAndConfirm(page, 'Restart all of made')
    await page.getByText('Restarted made and its tasks.').waitFor()
    await untilStates(client, 'made', 'RUNNING RUNNING')
    await button(page, 'Stop made').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await untilStates(client, 'made', 'RUNNING RUNNING')
    await pressAndConfirm(page, 'Stop made')
    await untilStates(client, 'made', 'STOPPED')
    await button(page, 'Resume made').waitFor()

    await kill()
    await page.getByText('reading periodically').waitFor()
    await page.getByRole('alert').getByText('the program does not respond').first().waitFor()
    await restart()
    await page.getByText('live', { exact: true }).waitFor()
    await expect.poll(() => page.getByRole('alert').allTextContents()).toEqual([])

    await pressAndConfirm(page, 'Delete made')
    await until('the deletion', WAIT, async () => !(await client.names()).includes('made'))
    await page.getByRole('alert').getByText('It has been deleted').waitFor()
  })

  it('alters and resets the offsets of a source and a sink after a preview', async () => {
    const { page, client, groupId } = await openWorker()
    const topic = `${groupId}-lines`
    const input = join(temporaryDirectory(), 'lines.txt')
    writeFileSync(input, 'one\ntwo\nthree\n')
    await client.create('lines', { 'connector.class': 'FileStreamSource', file: input, topic })
    const output = join(temporaryDirectory(), 'copy.txt')
    await client.create('copy', { 'connector.class': 'FileStreamSink', topics: topic, file: output })
    const offsetOf = async (name: string) => (await client.offsets(name)).map(({ offset }) => offset)
    await until('the offset of the source', WAIT, async () => (await offsetOf('lines'))[0]?.['position'] === 14)
    await until('the offset of the sink', WAIT, async () => (await offsetOf('copy'))[0]?.['kafka_offset'] === 3)

    const openOffsets = async (name: string) => {
      await openConnector(page, name)
      await page.getByRole('link', { name: 'Offsets', exact: true }).click()
      await pressAndConfirm(page, 'Stop to change offsets')
      await untilStates(client, name, 'STOPPED')
    }
    await openOffsets('copy')
    const field = page.getByLabel(/^New offset of /)
    await field.fill('-1')
    await page.getByText('is a whole number that is not negative').waitFor()
    expect(await button(page, 'Alter offsets').isDisabled()).toBe(true)
    await field.fill('1')
    await page.getByText('2 records are read again').waitFor()
    await pressAndConfirm(page, 'Alter offsets')
    await page.getByText('Altered the offsets of copy.').waitFor()
    expect(await offsetOf('copy')).toEqual([{ kafka_offset: 1 }])
    await pressAndConfirm(page, 'Reset all offsets')
    await page.getByText('Reset the offsets of copy.').waitFor()
    expect(await offsetOf('copy')).toEqual([])
    await page.getByText('The connector has stored no offset yet.').waitFor()
    // The topic is suggested, and the new row gets the focus.
    await button(page, 'Set its first offset').click()
    await page.keyboard.type('2')
    await page.getByRole('row', { name: /partition 0 none 2 starts here/ }).waitFor()
    await expectAccessible(page, 'a first offset')
    await pressAndConfirm(page, 'Alter offsets')
    await expect.poll(() => offsetOf('copy')).toEqual([{ kafka_offset: 2 }])
    await page.getByLabel('Partition', { exact: true }).fill('7')
    await button(page, 'Set its first offset').click()
    await page.keyboard.type('2')
    await pressAndConfirm(page, 'Alter offsets')
    await page.getByText(/Altered the offsets of copy: failed\..*7/).waitFor()
    expect(await offsetOf('copy')).toEqual([{ kafka_offset: 2 }])

    await openOffsets('lines')
    await field.fill('{"position": 4}')
    await page.getByText('position back by 10: read again').waitFor()
    await pressAndConfirm(page, 'Alter offsets')
    await page.getByText('Altered the offsets of lines.').waitFor()
    expect(await offsetOf('lines')).toEqual([{ position: 4 }])
    await button(page, 'Resume lines').click()
    await until('the lines to be read again', WAIT, async () => (await offsetOf('lines'))[0]?.['position'] === 14)
  })
})
