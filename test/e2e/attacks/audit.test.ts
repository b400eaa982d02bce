import { readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { startTestWorker } from '../../support/worker.ts'

type Entry = Readonly<Record<string, unknown>>

const entriesOf = (file: string): readonly Entry[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry)

async function registry(more: Readonly<Record<string, string>> = {}): Promise<{ url: string; file: string }> {
  const file = join(temporaryDirectory(), 'audit.jsonl')
  const logIn = await basicAuthSettings({ ada: 'admin', rea: 'readonly' })
  const started = await startTestRegistry({ ...logIn, 'audit.log.file': file, ...more })
  onTestFinished(() => started.stop())
  return { url: started.url, file }
}

const register = (user: string, url: string, subject = 's', headers = {}) =>
  callAs(user, url, `POST /subjects/${subject}/versions`, { schema: '{"type":"int","doc":"not for a log"}' }, headers)

describe('the audit log', () => {
  it('records user, operation, object, client address and status of each change', async () => {
    const { url, file } = await registry()
    await register('ada', url, 'orders', { 'x-request-id': 'request-7' })
    await callAs('ada', url, 'DELETE /subjects/orders')
    await callAs('ada', url, 'DELETE /subjects/orders?permanent=true')
    await expect.poll(() => entriesOf(file)).toHaveLength(3)
    expect(entriesOf(file)[0]).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      program: 'registry',
      user: 'ada',
      role: 'admin',
      login: 'basic',
      address: '127.0.0.1',
      method: 'POST',
      path: '/subjects/:subject/versions',
      operation: 'write',
      objects: { subject: 'orders' },
      status: 200,
      requestId: 'request-7',
      ms: expect.any(Number),
    })
    expect(entriesOf(file).map(({ operation }) => operation)).toEqual(['write', 'delete', 'harddelete'])
  })

  it('records each request for the dead letters of a connector, because they contain records', async () => {
    const file = join(temporaryDirectory(), 'audit.jsonl')
    const logIn = await basicAuthSettings({ ada: 'admin' })
    const { url } = await startTestWorker({ ...logIn, 'audit.log.file': file })
    const path = '/ui/api/connectors/c/dead-letters'
    await callAs('ada', url, `GET ${path}?limit=5`)
    await callAs('ada', url, `POST ${path}/replay`, { records: [{ partition: 0, offset: 0 }] })
    await expect
      .poll(() => entriesOf(file))
      .toMatchObject([
        { path: '/ui/api/connectors/:name/dead-letters', operation: 'write', objects: { name: 'c' } },
        { path: '/ui/api/connectors/:name/dead-letters/replay', operation: 'write', objects: { name: 'c' } },
      ])
  })

  it('records each reading of records of a topic and who it was refused to, and no record', async () => {
    const file = join(temporaryDirectory(), 'audit.jsonl')
    const logIn = await basicAuthSettings({ ada: 'admin', rea: 'readonly' })
    const { url, broker } = await startTestWorker({ ...logIn, 'audit.log.file': file })
    await broker.topics.create({ name: 'people', partitions: 1 })
    const producer = await broker.producer()
    await producer.send([{ topic: 'people', key: null, value: Buffer.from('not for a log') }])
    const path = '/ui/api/topics/people'
    await callAs('ada', url, `GET ${path}`)
    await callAs('ada', url, `GET ${path}/groups`)
    await callAs('ada', url, `GET ${path}/records?search=not%20for%20a%20log`)
    await callAs('ada', url, `GET ${path}/records/0/0`)
    await callAs('rea', url, `GET ${path}/records`)
    const scan = { path: '/ui/api/topics/:topic/records', operation: 'read', objects: { topic: 'people' } }
    await expect
      .poll(() => entriesOf(file))
      .toMatchObject([
        { ...scan, user: 'ada', status: 200 },
        {
          user: 'ada',
          path: `${scan.path}/:partition/:offset`,
          objects: { topic: 'people', partition: '0', offset: '0' },
        },
        { ...scan, user: 'rea', status: 403 },
      ])
    expect(readFileSync(file, 'utf8')).not.toContain('not for a log')
  })

  it('records each preview of a connector with the topics whose records it reads, and no record', async () => {
    const file = join(temporaryDirectory(), 'audit.jsonl')
    const logIn = await basicAuthSettings({ ada: 'admin', rea: 'readonly' })
    const { url, broker } = await startTestWorker({ ...logIn, 'audit.log.file': file })
    await broker.topics.create({ name: 'people', partitions: 1 })
    const producer = await broker.producer()
    await producer.send([{ topic: 'people', key: null, value: Buffer.from('"not for a log"') }])
    const line = 'POST /ui/api/connectors/c/preview'
    const config = { 'connector.class': 'FileStreamSink', 'topics.regex': 'peo.*', 'a.password': 'hunter2' }
    await callAs('ada', url, line, { config })
    await callAs('rea', url, line, { config })
    const entry = { path: '/ui/api/connectors/:name/preview', operation: 'write' }
    await expect
      .poll(() => entriesOf(file))
      .toMatchObject([
        { ...entry, user: 'ada', status: 200, objects: { name: 'c', topics: 'people' } },
        { ...entry, user: 'rea', status: 403, objects: { name: 'c' } },
      ])
    expect(readFileSync(file, 'utf8')).not.toMatch(/not for a log|hunter2/)
  })

  it('records changes in a worker, with the connector name in the request body', async () => {
    const file = join(temporaryDirectory(), 'audit.jsonl')
    const logIn = await basicAuthSettings({ ada: 'admin' })
    const { url } = await startTestWorker({ ...logIn, 'audit.log.file': file, 'connector.paths.allowed': '/' })
    const config = { 'connector.class': 'FileStreamSource', topic: 'lines', file: 'none.txt', 'a.password': 'hunter2' }
    await callAs('ada', url, 'POST /connectors', { name: 'c', config, initial_state: 'STOPPED' })
    await callAs('ada', url, 'DELETE /connectors/c')
    await expect.poll(() => entriesOf(file)).toHaveLength(2)
    expect(entriesOf(file)).toMatchObject([
      { program: 'worker', operation: 'write', objects: { name: 'c' }, status: 201 },
      { program: 'worker', operation: 'delete', objects: { name: 'c' }, status: 204 },
    ])
    expect(readFileSync(file, 'utf8')).not.toContain('hunter2')
  })

  it('records failed logins and denied requests, including reads', async () => {
    const { url, file } = await registry()
    const wrong = `Basic ${Buffer.from('ada:a wrong word').toString('base64')}`
    await callAs(undefined, url, 'GET /subjects', undefined, { authorization: wrong })
    await callAs(undefined, url, 'GET /subjects')
    await register('rea', url)
    await expect.poll(() => entriesOf(file)).toHaveLength(3)
    expect(entriesOf(file)).toMatchObject([
      { user: null, claimedUser: 'ada', operation: 'read', status: 401 },
      { user: null, operation: 'read', status: 401 },
      { user: 'rea', role: 'readonly', operation: 'write', status: 403 },
    ])
  })

  it('records allowed reads with audit.log.requests=all only', async () => {
    const [some, all] = [await registry(), await registry({ 'audit.log.requests': 'all' })]
    for (const { url, file } of [some, all]) {
      await callAs('rea', url, 'GET /subjects')
      await callAs('rea', url, 'POST /subjects/s', { schema: '"int"' })
      await register('ada', url)
      await expect.poll(() => entriesOf(file).map(({ operation }) => operation)).toContain('write')
    }
    expect(entriesOf(some.file)).toHaveLength(1)
    expect(entriesOf(all.file)).toHaveLength(3)
  })

  it('contains no request bodies, response bodies or passwords', async () => {
    const { url, file } = await registry({ 'audit.log.requests': 'all' })
    await register('ada', url)
    await callAs('ada', url, 'GET /subjects/s/versions/1?secret=in-a-query')
    await expect.poll(() => entriesOf(file)).toHaveLength(2)
    const text = readFileSync(file, 'utf8')
    const basic = Buffer.from('ada:ada').toString('base64')
    for (const secret of ['not for a log', 'in-a-query', basic]) expect(text).not.toContain(secret)
  })

  it('has one line for each request, whatever names the request contains', async () => {
    const { url, file } = await registry()
    const name = `${'x'.repeat(1_000)}\n{"user":"ada"}`
    const authorization = `Basic ${Buffer.from(`a\r\n{user=root}\u2028:x`).toString('base64')}`
    await callAs(undefined, url, `PUT /config/${encodeURIComponent(name)}`, {}, { authorization })
    await expect.poll(() => entriesOf(file)).toHaveLength(1)
    const [{ objects, claimedUser } = {}] = entriesOf(file)
    expect((objects as { subject: string }).subject).toHaveLength(256)
    expect(claimedUser).toBe('a\r\n{user=root}\u2028')
  })

  it('records requests whose client disconnects before the response', async () => {
    const { url, file } = await registry()
    const { port } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    const authorization = `Basic ${Buffer.from('ada:ada').toString('base64')}`
    const head = `DELETE /subjects/s HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\n\r\n`
    socket.write(head, () => socket.destroy())
    await expect.poll(() => entriesOf(file)).toHaveLength(1)
    expect(entriesOf(file)[0]).toMatchObject({ method: 'DELETE', objects: { subject: 's' } })
  })

  it('continues in a new file after the old one was renamed', async () => {
    const { url, file } = await registry()
    await register('ada', url, 'before')
    await expect.poll(() => entriesOf(file)).toHaveLength(1)
    renameSync(file, `${file}.1`)
    await register('ada', url, 'after')
    await expect.poll(() => statSync(file, { throwIfNoEntry: false })?.size ?? 0).toBeGreaterThan(0)
    expect([entriesOf(`${file}.1`), entriesOf(file)]).toMatchObject([
      [{ objects: { subject: 'before' } }],
      [{ objects: { subject: 'after' } }],
    ])
  })
})

describe('an audit log that cannot be written', () => {
  /** A file that says that its disk is full. */
  const full = () => {
    const file = join(temporaryDirectory(), 'audit.jsonl')
    symlinkSync('/dev/full', file)
    return file
  }
  const replace = (file: string) => {
    rmSync(file)
    symlinkSync(join(temporaryDirectory(), 'a disk with room'), file)
  }

  it('rejects changes, allows reads, and later writes the records of completed requests', async () => {
    const file = full()
    const { url } = await registry({ 'audit.log.file': file })
    // What is not known to fail yet is done, and waits to be written.
    expect((await register('ada', url, 'first')).status).toBe(200)
    await expect.poll(async () => (await register('ada', url, 'second')).status).toBe(503)
    expect((await callAs('rea', url, 'GET /subjects')).status).toBe(200)
    const done = (await callAs('rea', url, 'GET /subjects')).body as readonly string[]
    replace(file)
    await expect.poll(async () => (await register('ada', url, 'third')).status).toBe(200)
    const recorded = () =>
      entriesOf(file).flatMap(({ status, objects }) => (status === 200 ? [(objects as Entry)['subject']] : []))
    await expect.poll(recorded).toContain('third')
    expect(recorded()).toEqual(expect.arrayContaining([...done]))
  })

  it('rejects no request with audit.log.on.failure=drop', async () => {
    const { url } = await registry({ 'audit.log.file': full(), 'audit.log.on.failure': 'drop' })
    for (const subject of ['a', 'b', 'c']) expect((await register('ada', url, subject)).status).toBe(200)
  })

  it('prevents the start of a program', async () => {
    const settings = { 'audit.log.file': join(temporaryDirectory(), 'nowhere/audit.jsonl') }
    await expect(startTestRegistry(settings)).rejects.toThrow(/^audit.log.file=.*nowhere.*cannot be written: ENOENT/)
    await expect(startTestWorker(settings)).rejects.toThrow(/^audit.log.file=.*nowhere.*cannot be written: ENOENT/)
  })
})
