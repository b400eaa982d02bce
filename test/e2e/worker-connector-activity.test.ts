import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { createLogger } from '../../src/common/logging/logger.ts'
import { basicAuthSettings, callAs } from '../support/basic-auth.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { sharedTestWorker, startTestWorker } from '../support/worker.ts'

const WAIT = { everyMs: 20, timeoutMs: 120_000 }
const SOURCE = { 'connector.class': 'FileStreamSource', topic: 'lines', file: '/missing/file' }
const USERS = { root: 'admin', eye: 'readonly', ann: 'none', none: 'none' } as const
const PERMISSIONS = { users: { ann: [{ connectors: ['own-*'], operations: ['read'] }] } }

// The tests share a worker, and so the process of its tasks. Each has its own connectors.
const worker = sharedTestWorker(async (atEnd) => {
  const settings = await basicAuthSettings(USERS, PERMISSIONS, () => temporaryDirectory(tmpdir(), atEnd))
  const logger = createLogger({ write: () => undefined })
  return startTestWorker({ ...settings, 'connector.paths.allowed': '/' }, { logger }, atEnd)
})

async function create(name: string, state = 'RUNNING'): Promise<void> {
  const connector = { name, config: { name, ...SOURCE }, initial_state: state }
  expect((await callAs('root', worker().url, 'POST /connectors', connector)).status).toBe(201)
}

const get = (user: string | undefined, path: string) => callAs(user, worker().url, `GET /ui/api/${path}`)

it('Metrics and log of a connector need the permission to read it', async () => {
  await create('other', 'STOPPED')
  await create('own-a', 'STOPPED')
  for (const what of ['metrics', 'log']) {
    const statusOf = async (user: string | undefined, name: string) =>
      (await get(user, `connectors/${name}/${what}`)).status
    expect([what, await statusOf(undefined, 'own-a'), await statusOf('stranger', 'own-a')]).toEqual([what, 401, 401])
    expect([what, await statusOf('ann', 'own-a'), await statusOf('ann', 'other')]).toEqual([what, 200, 403])
    // As with the REST API: whether a connector exists that may not be read is not disclosed.
    expect([what, await statusOf('ann', 'missing'), await statusOf('eye', 'missing')]).toEqual([what, 403, 404])
    expect([what, await statusOf('eye', 'other')]).toEqual([what, 200])
  }
})

it('The loads of all connectors are for users who may read some, and tasks say when they were started', async () => {
  await create('own-b')
  await until('its task', WAIT, async () => (await metricsOf('own-b')).tasks.length === 1)
  expect((await metricsOf('own-b')).tasks).toEqual([{ task: 0, startedMs: expect.any(Number) }])
  const statusOf = async (user?: string) => (await get(user, 'connector-metrics')).status
  expect([await statusOf(), await statusOf('none'), await statusOf('ann')]).toEqual([401, 403, 200])
  expect((await get('eye', 'connector-metrics')).body).toEqual({
    workers: [
      {
        worker: expect.any(String),
        connectors: {},
        process: { isLeader: true, cpu: expect.any(Number), memoryBytes: expect.any(Number) },
      },
    ],
    missing: [],
  })
})

it('The log has the lines about the connector, and later requests those that follow', async () => {
  await create('own-c')
  await create('others')
  const read = async (name: string, after = '') => {
    const { body } = await get('eye', `connectors/${name}/log?after=${after}`)
    return (body as { workers: readonly [{ run: string; last: number; lines: readonly { line: object }[] }] })
      .workers[0]
  }
  await until('a line', WAIT, async () => (await read('own-c')).lines.length > 0)
  for (const { line } of (await read('own-c')).lines) expect(line).toMatchObject({ connector: 'own-c' })
  // A line may come between two requests, but does not come with each.
  await until('a request without a line', WAIT, async () => {
    const { run, last } = await read('own-c')
    return (await read('own-c', `${run}:${last}`)).lines.length === 0
  })
  expect((await read('own-c', 'another-run:99')).lines.length).toBeGreaterThan(0)
  expect((await get('eye', 'connectors/own-c/log?after=x%20y')).status).toBe(400)
  // Deleted and created again by somebody else: earlier lines are not shown.
  expect((await callAs('root', worker().url, 'DELETE /connectors/own-c')).status).toBe(204)
  expect((await get('root', 'connectors/own-c/log')).status).toBe(404)
})

it('Without a console, nothing is kept and there are no routes', async () => {
  const { url } = await startTestWorker({ 'ui.enabled': 'false' })
  const paths = ['connector-metrics', 'connectors/a/metrics', 'connectors/a/log']
  const statuses = paths.map(async (path) => (await callAs(undefined, url, `GET /ui/api/${path}`)).status)
  expect(await Promise.all(statuses)).toEqual([404, 404, 404])
})

async function metricsOf(name: string): Promise<{ readonly tasks: readonly object[] }> {
  const { body } = await get('root', `connectors/${name}/metrics`)
  return (body as { workers: readonly [{ tasks: readonly object[] }] }).workers[0]
}
