import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await startTestRegistry()
})
beforeEach(() => registry.reset())
afterAll(() => registry.stop())

const INT = { schema: '"int"' }
const LONG = { schema: '"long"' }
const call = async (method: string, path: string, body?: unknown) => {
  const answer = await registry.call(method, path, body)
  const { error_code: code, message } = (answer.body ?? {}) as { error_code?: number; message?: string }
  return code === undefined ? answer.body : { status: answer.status, code, message }
}
const rejected = (status: number, code: number, message: unknown = expect.any(String)) => ({ status, code, message })

describe('compatibility', () => {
  const record = (...fields: object[]) => ({ schema: JSON.stringify({ type: 'record', name: 'R', fields }) })
  const a = { name: 'a', type: 'int' }
  const b = { name: 'b', type: 'int' }
  const c = { name: 'c', type: 'int', default: 1 }

  it.each([
    ['NONE', [record(a)], { schema: '"string"' }, true],
    ['BACKWARD', [record(a)], record(), true],
    ['BACKWARD', [record(a)], record(a, b), false],
    ['BACKWARD', [record(a), record()], record(b), false],
    ['FORWARD', [record(a)], record(a, b), true],
    ['FORWARD', [record(a)], record(), false],
    ['FULL', [record(a)], record(a, c), true],
    ['FULL', [record(a)], record(), false],
    ['FULL', [record(a)], record(a, b), false],
    ['BACKWARD_TRANSITIVE', [record(), record(c)], record(c), true],
    ['BACKWARD_TRANSITIVE', [record(), record(c), record(c, b)], record(b), false],
    ['BACKWARD', [record(), record(c), record(c, b)], record(b), true],
    ['FORWARD_TRANSITIVE', [record(a), record(c)], record(b), false],
    ['FORWARD', [record(a), record(c)], record(b), true],
    ['FULL_TRANSITIVE', [record(a), record(a, c)], record(a), true],
  ])('with level %s and versions %j, %j is compatible: %s', async (level, versions, schema, compatible) => {
    for (const version of versions) await call('POST', '/subjects/s/versions?force=true', version)
    await call('PUT', '/config/s', { compatibility: level })
    expect(await call('POST', '/compatibility/subjects/s/versions', schema)).toEqual({ is_compatible: compatible })
    const registered = await registry.call('POST', '/subjects/s/versions', schema)
    expect(registered.status).toBe(compatible ? 200 : 409)
  })

  it('can be checked with one version', async () => {
    const latest = '/compatibility/subjects/s/versions/latest'
    expect(await call('POST', latest, INT)).toEqual({ is_compatible: true })
    await call('POST', '/subjects/s/versions', LONG)
    expect(await call('POST', latest, INT)).toEqual({ is_compatible: false })
    expect(await call('POST', `${latest}?verbose=true`, LONG)).toEqual({ is_compatible: true, messages: [] })
    expect(await call('POST', '/compatibility/subjects/s/versions/7', INT)).toEqual(
      rejected(404, 40402, 'Version 7 not found.'),
    )
    expect(await call('POST', '/compatibility/subjects/s/versions/0', INT)).toEqual(rejected(422, 42202))
    expect(await call('POST', latest, { schema: '{' })).toEqual(rejected(422, 42201))
    expect(await call('POST', `${latest}?verbose=true`, { schema: '{' })).toEqual({
      is_compatible: false,
      messages: [expect.stringContaining('Invalid schema')],
    })
  })

  it('is not checked with versions of another compatibility group', async () => {
    await call('PUT', '/config/s', { compatibilityGroup: 'major' })
    const versioned = (schema: string, major: string) => ({ schema, metadata: { properties: { major } } })
    await call('POST', '/subjects/s/versions', versioned('"int"', '1'))
    expect((await registry.call('POST', '/subjects/s/versions', versioned('"string"', '2'))).status).toBe(200)
    expect((await registry.call('POST', '/subjects/s/versions', versioned('"string"', '1'))).status).toBe(409)
  })

  it('includes reserved fields if the config sets validateFields', async () => {
    await call('PUT', '/config/s', { validateFields: true })
    const reserving = (fields: string, ...more: object[]) => ({
      ...record(...more),
      metadata: { properties: { 'confluent:reserved': fields } },
    })
    await call('POST', '/subjects/s/versions', reserving('x,y'))
    expect(
      await call('POST', '/compatibility/subjects/s/versions/latest?verbose=true', reserving('x', { ...c, name: 'x' })),
    ).toEqual({
      is_compatible: false,
      messages: [
        "The new schema has reserved field y removed from its metadata which is present in the old schema's metadata.",
        'The new schema has field that conflicts with the reserved field x.',
        "{validateFields: 'true', compatibility: 'BACKWARD'}",
      ],
    })
  })
})

describe('config', () => {
  it('is inherited from the subject, its context and the global scope', async () => {
    expect(await call('GET', '/config')).toEqual({ compatibilityLevel: 'BACKWARD' })
    expect(await call('PUT', '/config', { compatibility: 'full' })).toEqual({ compatibility: 'FULL' })
    expect(await call('GET', '/config')).toEqual({ compatibilityLevel: 'FULL' })
    expect(await call('GET', '/config/s')).toEqual(
      rejected(404, 40408, "Subject 's' does not have subject-level compatibility configured"),
    )
    expect(await call('GET', '/config/s?defaultToGlobal=true')).toEqual({ compatibilityLevel: 'FULL' })
    await call('PUT', '/contexts/c/config', { compatibility: 'NONE' })
    expect(await call('GET', '/config/:.c:s?defaultToGlobal=true')).toEqual({ compatibilityLevel: 'NONE' })
    expect(await call('GET', '/config/:.d:s?defaultToGlobal=true')).toEqual({ compatibilityLevel: 'BACKWARD' })
    await call('PUT', '/config/:.__GLOBAL:', { compatibility: 'FORWARD' })
    expect(await call('GET', '/config/:.d:s?defaultToGlobal=true')).toEqual({ compatibilityLevel: 'FORWARD' })
  })

  it('is updated member by member', async () => {
    await call('PUT', '/config/s', { compatibility: 'NONE', normalize: true })
    expect(await call('PUT', '/config/s', { compatibilityGroup: 'g' })).toEqual({
      compatibility: 'NONE',
      normalize: true,
      compatibilityGroup: 'g',
    })
    expect(await call('PUT', '/config/s', { compatibility: null })).toEqual({
      normalize: true,
      compatibilityGroup: 'g',
    })
    expect(await call('GET', '/config/s')).toEqual({
      compatibilityLevel: 'BACKWARD',
      normalize: true,
      compatibilityGroup: 'g',
    })
    expect(await call('DELETE', '/config/s')).toMatchObject({ normalize: true })
    expect(await call('DELETE', '/config/s')).toEqual(rejected(404, 40401, "Subject 's' not found."))
  })

  it.each([
    [{ compatibility: 'SOMETIMES' }, 422, 42203],
    [{ compatibility: 7 }, 422, 42203],
    [{ normalize: 'yes' }, 400, 400],
    [{ defaultRuleSet: { domainRules: [{ name: '1', type: 'T', mode: 'WRITE' }] } }, 422, 42210],
    [undefined, 422, 422],
    ['[', 400, 400],
  ])('rejects %j with status %i and error code %i', async (body, status, code) => {
    expect(await call('PUT', '/config/s', body)).toEqual(rejected(status, code))
  })

  it('resolves an alias', async () => {
    await call('POST', '/subjects/target/versions', INT)
    await call('PUT', '/config/alias', { alias: 'target' })
    expect(await call('GET', '/subjects/alias/versions/1')).toMatchObject({ subject: 'target', id: 1 })
    expect(await call('GET', '/schemas?aliases=true')).toMatchObject([{ subject: 'target', aliases: ['alias'] }])
  })

  it('adds default metadata to schemas and overrides their metadata', async () => {
    await call('PUT', '/config/s', {
      defaultMetadata: { properties: { owner: 'nobody', level: '1' } },
      overrideMetadata: { properties: { level: '2' } },
    })
    const { body } = await registry.call('POST', '/subjects/s/versions', {
      ...INT,
      metadata: { properties: { owner: 'me' } },
    })
    expect(body).toMatchObject({ version: 1, metadata: { properties: { level: '2', owner: 'me' } } })
    expect(await call('POST', '/subjects/s', INT)).toMatchObject({ version: 1 })
    expect(await call('GET', '/subjects/s/metadata?key=owner&value=me')).toMatchObject({ version: 1 })
    expect(await call('GET', '/subjects/s/metadata?key=owner&value=you')).toEqual(rejected(404, 40403))
    // Without a schema, only the metadata changes.
    await call('POST', '/subjects/s/versions', { metadata: { properties: { owner: 'you' } } })
    expect(await call('GET', '/subjects/s/versions/2')).toMatchObject({
      schema: '"int"',
      metadata: { properties: { level: '2', owner: 'you' } },
    })
  })
})

describe('mode', () => {
  it('is inherited like the config', async () => {
    expect(await call('GET', '/mode')).toEqual({ mode: 'READWRITE' })
    expect(await call('PUT', '/mode', { mode: 'readonly' })).toEqual({ mode: 'readonly' })
    expect(await call('GET', '/mode')).toEqual({ mode: 'READONLY' })
    expect(await call('GET', '/')).toEqual({ mode: 'READONLY' })
    expect(await call('GET', '/mode/s')).toEqual(
      rejected(404, 40409, "Subject 's' does not have subject-level mode configured"),
    )
    expect(await call('GET', '/mode/s?defaultToGlobal=true')).toEqual({ mode: 'READONLY' })
    await call('PUT', '/mode/s', { mode: 'READWRITE' })
    expect((await registry.call('POST', '/subjects/s/versions', INT)).status).toBe(200)
    expect(await call('DELETE', '/mode?recursive=true')).toEqual({ mode: 'READONLY' })
    expect(await call('GET', '/mode/s')).toEqual(rejected(404, 40409))
    expect(await call('DELETE', '/mode/s')).toEqual(rejected(404, 40401, "Subject 's' not found."))
  })

  it.each([
    ['/mode', { mode: 'SOMETIMES' }, 'Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.'],
    ['/mode/s', { mode: 'FORWARD' }, 'Forward mode only supported on global level'],
  ])('rejects %s %j', async (path, body, message) => {
    expect(await call('PUT', path, body)).toEqual(rejected(422, 42204, message))
  })

  it('READONLY rejects changes, but registering an existing schema returns it', async () => {
    await call('POST', '/subjects/s/versions', INT)
    await call('PUT', '/mode', { mode: 'READONLY' })
    const rejection = rejected(422, 42205, 'Subject s in context . is in read-only mode')
    expect(await call('POST', '/subjects/s/versions', LONG)).toEqual(rejection)
    expect(await call('DELETE', '/subjects/s')).toEqual(rejection)
    expect(await call('DELETE', '/subjects/s/versions/1')).toEqual(rejection)
    expect(await call('PUT', '/config/s', { compatibility: 'NONE' })).toEqual(rejection)
    expect(await call('POST', '/subjects/s/versions', INT)).toMatchObject({ id: 1 })
  })

  it('IMPORT accepts schemas with IDs and versions', async () => {
    await call('POST', '/subjects/other/versions', INT)
    expect(await call('PUT', '/mode', { mode: 'IMPORT' })).toEqual(
      rejected(422, 42205, 'Cannot import since found existing subjects'),
    )
    expect(await call('PUT', '/mode/s', { mode: 'IMPORT' })).toEqual({ mode: 'IMPORT' })
    expect(await call('POST', '/subjects/s/versions', LONG)).toEqual(
      rejected(422, 42205, 'Subject s in context . is not in read-write mode'),
    )
    expect(await call('POST', '/subjects/s/versions', { ...LONG, id: 40, version: 3 })).toMatchObject({
      id: 40,
      version: 3,
    })
    expect(await call('POST', '/subjects/s/versions', { schema: '"string"', id: 40, version: 4 })).toEqual(
      rejected(422, 42205, 'Overwrite new schema with id 40 in context . is not permitted.'),
    )
    expect(await call('POST', '/subjects/s/versions', { ...LONG, id: 40, version: 5 })).toMatchObject({
      id: 40,
      version: 5,
    })
    await call('PUT', '/mode/s', { mode: 'READWRITE' })
    expect(await call('POST', '/subjects/s/versions?force=true', { schema: '"string"' })).toMatchObject({
      id: 41,
      version: 6,
    })
  })

  it('setting IMPORT hard-deletes soft-deleted versions', async () => {
    await call('POST', '/subjects/s/versions', INT)
    await call('DELETE', '/subjects/s')
    await call('PUT', '/mode/s', { mode: 'IMPORT' })
    expect(registry.written.slice(-3).map(({ key }) => JSON.parse(key).keytype)).toEqual([
      'SCHEMA',
      'CLEAR_SUBJECT',
      'MODE',
    ])
    expect(await call('GET', '/subjects?deleted=true')).toEqual([])
  })

  it('cannot be changed with mode.mutability=false', async () => {
    const fixed = await startTestRegistry({ 'mode.mutability': 'false' })
    expect(await fixed.call('PUT', '/mode', { mode: 'READONLY' })).toMatchObject({
      status: 422,
      body: { error_code: 42205, message: 'Mode changes are not allowed' },
    })
    await fixed.stop()
  })
})

describe('contexts', () => {
  it('of references are those of the schemas that have them', async () => {
    const one = (name: string, type: string, subject: string) => ({
      schema: JSON.stringify({ type: 'record', name, fields: [{ name: 'f', type }] }),
      references: [{ name: type, subject, version: 1 }],
    })
    const base = (name: string) => ({ schema: JSON.stringify({ type: 'enum', name, symbols: ['A'] }) })
    await call('POST', '/subjects/:.a:base/versions', base('OfA'))
    await call('POST', '/subjects/:.b:base/versions', base('OfB'))
    await call('POST', '/subjects/:.b:middle/versions', one('Middle', 'OfB', 'base'))
    // Its reference has a reference without a context, which is in the context .b.
    const top = one('Top', 'Middle', ':.b:middle')
    expect(await call('POST', '/subjects/:.a:top/versions', top)).toMatchObject({ id: 2 })
  })

  it('have separate IDs and subjects', async () => {
    await call('POST', '/subjects/s/versions', INT)
    await call('POST', '/contexts/c/subjects/s/versions', LONG)
    await call('POST', '/subjects/:.d:s/versions', LONG)
    expect(await call('GET', '/subjects')).toEqual([':.c:s', ':.d:s', 's'])
    expect(await call('GET', '/contexts')).toEqual(['.', '.c', '.d'])
    expect(await call('GET', '/contexts?contextPrefix=.d')).toEqual(['.d'])
    expect(await call('GET', '/contexts/:.c:/subjects')).toEqual([':.c:s'])
    expect(await call('GET', '/contexts/c/schemas/ids/1')).toMatchObject({ schema: '"long"' })
    expect(await call('GET', '/schemas/ids/1?subject=:.d:')).toMatchObject({ schema: '"long"' })
    expect(await call('GET', '/schemas/ids/1')).toMatchObject({ schema: '"int"' })
    expect(await call('GET', '/contexts/c/subjects/s/versions/1')).toMatchObject({ subject: ':.c:s' })
  })

  it('are searched for an unqualified subject that the default context lacks', async () => {
    await call('POST', '/contexts/c/subjects/s/versions', LONG)
    expect(await call('GET', '/subjects/s/versions/latest')).toMatchObject({ subject: ':.c:s' })
    expect(await call('POST', '/subjects/s', LONG)).toMatchObject({ subject: ':.c:s' })
    expect(await call('GET', '/schemas/ids/1?subject=s')).toMatchObject({ subject: ':.c:s' })
  })

  it('can be deleted if they are empty', async () => {
    await call('POST', '/contexts/c/subjects/s/versions', LONG)
    expect(await call('DELETE', '/contexts/c')).toEqual(
      rejected(422, 42211, "The specified context '.c' is not empty."),
    )
    await call('DELETE', '/contexts/c/subjects/s')
    await call('DELETE', '/contexts/c/subjects/s?permanent=true')
    expect(await registry.call('DELETE', '/contexts/c')).toEqual({ status: 204, body: undefined })
    expect(await call('GET', '/contexts')).toEqual(['.'])
  })
})

describe('the HTTP server', () => {
  it('returns the identity of the registry and a request ID', async () => {
    expect(await call('GET', '/v1/metadata/id')).toEqual({
      scope: { path: [], clusters: { 'kafka-cluster': 'test-cluster', 'schema-registry-cluster': 'schema-registry' } },
    })
    expect(await call('GET', '/v1/metadata/version')).toMatchObject({ version: '0.0.0' })
    expect(await call('POST', '/')).toEqual({})
    const given = await fetch(registry.url, { headers: { 'x-request-id': 'mine' } })
    expect(given.headers.get('x-request-id')).toBe('mine')
    expect((await fetch(registry.url)).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it.each(['application/vnd.schemaregistry.v1+json', 'application/json', 'application/octet-stream', undefined])(
    'accepts a body of content type %s',
    async (type) => {
      const response = await fetch(`${registry.url}/subjects/s/versions`, {
        method: 'POST',
        body: new Uint8Array(Buffer.from('{"schema":"\\"int\\"","unknown":1}')),
        ...(type === undefined ? {} : { headers: { 'content-type': type } }),
      })
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'application/vnd.schemaregistry.v1+json',
      ])
    },
  )

  it.each([
    ['POST', '/subjects/s/versions', 'text/plain', 415],
    ['PATCH', '/subjects', 'application/json', 405],
  ])('rejects %s %s of content type %s with status %i', async (method, path, type, status) => {
    const response = await fetch(`${registry.url}${path}`, { method, body: '{}', headers: { 'content-type': type } })
    expect(response.status).toBe(status)
  })

  it.each([
    [{ schema: [5] }],
    [{ schema: '"int"', references: 'x' }],
    [{ schema: '"int"', references: [{ name: 'n' }] }],
    [{ schema: '"int"', metadata: { tags: 1 } }],
    [[]],
    ['"x"'],
  ])('returns 400 for the body %j', async (body) => {
    expect(await call('POST', '/subjects/s/versions', body)).toEqual(rejected(400, 400))
  })
})
