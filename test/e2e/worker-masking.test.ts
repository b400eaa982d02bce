import { expect, it } from 'vitest'
import { basicAuthSettings, callAs } from '../support/basic-auth.ts'
import { startTestWorker } from '../support/worker.ts'

const SECRET = 'open-sesame-9'
const CONFIG = {
  'connector.class': 'FileStreamSink',
  name: 'sink',
  topics: 'orders',
  file: '/tmp/sink.txt',
  'db.password': SECRET,
  url: `https://me:${SECRET}@api.example/`,
}
const PATHS = ['/connectors?expand=info', '/connectors/sink', '/connectors/sink/config', '/connectors/sink/tasks']

async function startWorker(settings: Readonly<Record<string, string>> = {}, state = 'RUNNING') {
  const roles = { readonly: 'readonly', developer: 'developer', admin: 'admin' } as const
  const { url } = await startTestWorker({
    ...(await basicAuthSettings(roles)),
    'connector.paths.allowed': '/tmp',
    ...settings,
  })
  const call = (user: string, line: string, body?: unknown) => callAs(user, url, line, body)
  const created = await call('developer', 'POST /connectors', { name: 'sink', config: CONFIG, initial_state: state })
  expect(created.status).toBe(201)
  const shownTo = async (user: string) =>
    JSON.stringify(await Promise.all(PATHS.map(async (path) => (await call(user, `GET ${path}`)).body)))
  return { call, created, shownTo }
}

it('secrets in configurations are shown to users who may write connectors, and masked for others', async () => {
  const { call, created, shownTo } = await startWorker()
  expect(created.body).toMatchObject({ config: CONFIG })
  expect(await shownTo('developer')).toContain(SECRET)
  expect(await shownTo('readonly')).not.toContain(SECRET)
  expect((await call('readonly', 'GET /connectors/sink/config')).body).toEqual({
    ...CONFIG,
    'db.password': '[hidden]',
    url: 'https://me:[hidden]@api.example/',
  })
})

it('weir.config.masking=always masks secrets for all users, and restores them when they are written back', async () => {
  const { call, created, shownTo } = await startWorker({ 'weir.config.masking': 'always' })
  expect(JSON.stringify(created)).not.toContain(SECRET)
  expect(await shownTo('admin')).not.toContain(SECRET)
  const shown = (await call('admin', 'GET /connectors/sink/config')).body as Record<string, string>
  const put = await call('admin', 'PUT /connectors/sink/config', { ...shown, topics: 'orders,returns' })
  expect(put).toMatchObject({ status: 200, body: { config: { 'db.password': '[hidden]', topics: 'orders,returns' } } })
  const moved = await call('admin', 'PATCH /connectors/sink/config', { url: 'https://me:[hidden]@elsewhere.example/' })
  expect(moved).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('for configuration url: it stands') },
  })
  const copied = await call('admin', 'POST /connectors', { name: 'copy', config: { ...shown, name: 'copy' } })
  expect(copied.status).toBe(400)
})

it('a mask that is written back keeps the stored secret', async () => {
  const { call } = await startWorker({}, 'STOPPED')
  const shown = (await call('readonly', 'GET /connectors/sink/config')).body
  await call('developer', 'PUT /connectors/sink/config', shown)
  expect((await call('developer', 'GET /connectors/sink/config')).body).toEqual(CONFIG)
})
