import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'
import { startTestWorker } from '../../support/worker.ts'

const PERMISSIONS = {
  users: {
    ann: [
      { subjects: ['own-*', ':.own:*'], operations: ['*'] },
      { connectors: ['own-*'], operations: ['*'] },
    ],
    rob: [
      { subjects: ['own-*'], operations: ['read'] },
      { connectors: ['*'], operations: ['read'] },
    ],
    wim: [{ subjects: ['own-*'], operations: ['read', 'write'] }],
  },
}
const SECRET = { schema: '{"type":"record","name":"Secret","fields":[{"name":"hidden","type":"int"}]}' }
const FOUND = 200
let settings: Readonly<Record<string, string>>
let registry: TestRegistry
const directory = mkdtempSync(join(tmpdir(), 'weir-'))

beforeAll(async () => {
  const roles = { root: 'admin', ann: 'none', rob: 'none', wim: 'none' } as const
  settings = await basicAuthSettings(roles, PERMISSIONS, () => directory)
  registry = await startTestRegistry(settings)
})
afterAll(async () => {
  await registry.stop()
  rmSync(directory, { recursive: true })
})

const as = (user: string, line: string, body?: unknown) => callAs(user, registry.url, line, body)
const DENIED = (permission: string, subject: string) => ({
  status: 403,
  body: { error_code: 403, message: `User 'ann' lacks the permission '${permission}' on the subject '${subject}'` },
})

describe('a user without read permission on a subject', () => {
  beforeEach(async () => {
    registry.reset()
    await as('root', 'POST /subjects/secret/versions', SECRET)
    await as('root', 'POST /subjects/:.hidden:own-2/versions', SECRET)
    await as('root', 'POST /subjects/own-1/versions', { schema: '"int"' })
    await as('root', 'POST /subjects/:.own:any/versions', { schema: '"long"' })
  })

  it('finds neither it nor its context in any list', async () => {
    expect(await as('ann', 'GET /subjects')).toEqual({ status: FOUND, body: [':.own:any', 'own-1'] })
    expect(await as('ann', 'GET /subjects?subjectPrefix=:*:s')).toEqual({ status: FOUND, body: [] })
    expect(await as('ann', 'GET /contexts')).toEqual({ status: FOUND, body: ['.', '.own'] })
    for (const line of ['GET /schemas', 'GET /schemas?subjectPrefix=:*:&aliases=true']) {
      const { body } = await as('ann', line)
      expect((body as { subject: string }[]).every(({ subject }) => /^(own-|:\.own:)/.test(subject))).toBe(true)
    }
  })

  it('cannot read its schema by id or guid, nor the subjects that have it', async () => {
    const { body } = await as('root', 'GET /subjects/secret/versions/1')
    const { id, guid } = body as { id: number; guid: string }
    const ways = [`ids/${id}`, `ids/${id}/schema`, `ids/${id}/subjects`, `ids/${id}/versions`, `guids/${guid}`]
    for (const path of [...ways, ...ways.map((way) => `${way}?subject=secret`), `guids/${guid}/ids`]) {
      expect([path, (await as('ann', `GET /schemas/${path}`)).status]).toEqual([path, 404])
      expect([path, (await as('root', `GET /schemas/${path}`)).status]).toEqual([path, FOUND])
    }
    // One content under two subjects: each is told of what it may read.
    await as('root', 'POST /subjects/own-3/versions', SECRET)
    expect(await as('ann', `GET /schemas/ids/${id}/subjects`)).toEqual({ status: FOUND, body: ['own-3'] })
    expect(await as('ann', `GET /schemas/ids/${id}?subject=secret`)).toMatchObject({ body: { subject: 'own-3' } })
  })

  it('cannot read a subject of the same name in another context', async () => {
    for (const line of ['GET /subjects/own-2/versions/1', 'GET /subjects/own-2/versions/latest/schema']) {
      expect([line, (await as('ann', line)).status]).toEqual([line, 404])
      expect([line, (await as('root', line)).status]).toEqual([line, FOUND])
    }
    expect((await as('ann', 'POST /subjects/own-2', SECRET)).status).toBe(404)
    expect((await as('ann', 'POST /subjects/own-2/versions/1/tags', { newVersion: 2 })).status).toBe(404)
    expect(await as('ann', 'GET /contexts/.hidden/subjects/own-2/versions/1')).toEqual(DENIED('read', ':.hidden:own-2'))
    expect(await as('ann', 'GET /contexts/.own/subjects/:.hidden:own-2/versions')).toEqual(
      DENIED('read', ':.hidden:own-2'),
    )
  })

  it('cannot read it through an alias, existing or created for that', async () => {
    await as('root', 'PUT /config/own-alias', { alias: 'secret' })
    expect(await as('ann', 'GET /subjects/own-alias/versions/1')).toEqual(DENIED('read', 'secret'))
    expect(await as('ann', 'POST /subjects/own-alias/versions', { schema: '"int"' })).toEqual(DENIED('write', 'secret'))
    expect(await as('ann', 'DELETE /subjects/own-alias?permanent=true')).toEqual(DENIED('harddelete', 'secret'))
    expect(await as('ann', 'PUT /config/own-new', { alias: 'secret' })).toEqual(DENIED('read', 'secret'))
    expect((await as('ann', 'PUT /config/own-new', { alias: 'own-1' })).status).toBe(FOUND)
  })

  it('cannot read it through a reference, nor through the reference of a schema that refers to it', async () => {
    const record = (name: string, type: string) =>
      JSON.stringify({ type: 'record', name, fields: [{ name: 'f', type }] })
    const refers = { schema: record('Own', 'Secret'), references: [{ name: 'Secret', subject: 'secret', version: 1 }] }
    for (const line of [
      'POST /subjects/own-r/versions',
      'POST /subjects/own-r',
      'POST /compatibility/subjects/own-r/versions?verbose=true',
      'POST /compatibility/subjects/own-1/versions/latest',
    ]) {
      expect(await as('ann', line, refers)).toEqual(DENIED('read', 'secret'))
    }
    expect((await as('root', 'POST /subjects/own-r/versions', refers)).status).toBe(FOUND)
    const further = { schema: record('Far', 'Own'), references: [{ name: 'Own', subject: 'own-r', version: -1 }] }
    expect(await as('ann', 'POST /compatibility/subjects/own-r/versions', further)).toEqual(DENIED('read', 'secret'))
    expect((await as('ann', 'GET /subjects/own-r/versions/1')).status).toBe(FOUND)
    expect(await as('ann', 'GET /subjects/own-r/versions/1?format=resolved')).toEqual(DENIED('read', 'secret'))
    const other = { ...refers, schema: record('Other', 'Secret') }
    const { body } = await as('root', 'POST /subjects/other-r/versions', other)
    const { id } = body as { id: number }
    await as('root', 'PUT /config/own-all', { alias: 'secret' })
    expect((await as('root', 'GET /subjects/secret/versions/1/referencedby')).body).toContain(id)
  })

  it('finds only readable schemas with referencedby', async () => {
    const own = JSON.stringify({ type: 'record', name: 'Base', fields: [] })
    await as('root', 'POST /subjects/own-base/versions', { schema: own })
    const references = [{ name: 'Base', subject: 'own-base', version: 1 }]
    for (const subject of ['own-user', 'other-user']) {
      const schema = JSON.stringify({
        type: 'record',
        name: subject.replace('-', ''),
        fields: [{ name: 'b', type: 'Base' }],
      })
      await as('root', `POST /subjects/${subject}/versions`, { schema, references })
    }
    const path = 'GET /subjects/own-base/versions/1/referencedby'
    expect(((await as('root', path)).body as number[]).length).toBe(2)
    expect(((await as('ann', path)).body as number[]).length).toBe(1)
  })

  it('registers with an id only with the permission import', async () => {
    await as('root', 'PUT /mode/own-import', { mode: 'IMPORT' })
    const imported = { schema: '"int"', id: 77 }
    expect((await as('wim', 'POST /subjects/own-import/versions', imported)).status).toBe(403)
    expect((await as('wim', 'POST /subjects/own-9/versions', { schema: '"int"' })).status).toBe(FOUND)
    expect((await as('ann', 'POST /subjects/own-import/versions', imported)).status).toBe(FOUND)
  })

  it('is rejected by a follower in the same way as by its leader', async () => {
    const follower = await startTestRegistry(settings, { leaderUrl: registry.url })
    onTestFinished(() => follower.stop())
    const write = (user: string, subject: string, headers = {}) =>
      callAs(user, follower.url, `POST /subjects/${subject}/versions`, { schema: '"int"' }, headers)
    expect((await write('ann', 'own-f')).status).toBe(FOUND)
    expect(await write('ann', 'foreign')).toEqual(DENIED('write', 'foreign'))
    // A header that says that it was forwarded opens nothing.
    const forged = { 'x-forward': 'true', 'x-forwarded-for': '127.0.0.1' }
    const direct = await callAs('ann', registry.url, 'POST /subjects/foreign/versions', { schema: '"int"' }, forged)
    expect(direct).toEqual(DENIED('write', 'foreign'))
    // A follower that lets everybody in: the leader still asks who it is.
    const open = await startTestRegistry({}, { leaderUrl: registry.url })
    onTestFinished(() => open.stop())
    const through = (user?: string) => callAs(user, open.url, 'POST /subjects/foreign/versions', { schema: '"int"' })
    expect([(await through()).status, (await through('ann')).status, (await through('root')).status]).toEqual([
      401, 403, 200,
    ])
  })
})

describe('a user with permissions on some connectors only', () => {
  const config = { 'connector.class': 'FileStreamSource', topic: 'lines', file: 'none.txt' }
  it('neither finds nor creates other connectors', async () => {
    const { url } = await startTestWorker({ ...settings, 'connector.paths.allowed': '/' })
    const create = (user: string, name: string, configured: object = config) =>
      callAs(user, url, 'POST /connectors', { name, config: configured, initial_state: 'STOPPED' })
    expect((await create('root', 'foreign')).status).toBe(201)
    expect((await create('ann', 'own-1')).status).toBe(201)
    for (const name of ['foreign-2', ' foreign-2', '']) expect((await create('ann', name)).status).toBe(403)
    // The name in the configuration is that of the connector.
    expect((await create('ann', 'own-2', { ...config, name: 'foreign-3' })).status).toBe(400)
    expect((await create('rob', 'own-3')).status).toBe(403)
    expect((await callAs('ann', url, 'GET /connectors')).body).toEqual(['own-1'])
    expect((await callAs('rob', url, 'GET /connectors')).body).toEqual(['own-1', 'foreign'])
    const expanded = await callAs('ann', url, 'GET /connectors?expand=info&expand=status')
    expect(Object.keys(expanded.body as object)).toEqual(['own-1'])
    expect(await callAs('ann', url, 'GET /connectors/foreign/config')).toMatchObject({
      status: 403,
      body: { message: "User 'ann' lacks the permission 'read' on the connector 'foreign'" },
    })
  })

  it('sends requests of the worker protocol only as an administrator or with a signature', async () => {
    const { url } = await startTestWorker({ ...settings, 'connector.paths.allowed': '/' })
    const line = 'POST /connectors/c/tasks'
    expect((await callAs('rob', url, line, [])).status).toBe(403)
    expect((await callAs('nobody', url, line, [])).status).toBe(401)
    expect((await callAs(undefined, url, line, [])).status).toBe(400)
    expect((await callAs('root', url, line, [])).status).not.toBeOneOf([400, 401, 403])
  })
})
