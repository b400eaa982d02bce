import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await startTestRegistry()
})
beforeEach(() => registry.reset())
afterAll(() => registry.stop())

const INT = { schema: '{"type":"int"}' }
const LONG = { schema: '"long"' }
const record = (...fields: string[]) => ({
  schema: JSON.stringify({ type: 'record', name: 'R', fields: fields.map((name) => ({ name, type: 'int' })) }),
})
const register = async (subject: string, ...schemas: object[]) => {
  for (const schema of schemas) {
    expect(await registry.call('POST', `/subjects/${encodeURIComponent(subject)}/versions`, schema)).toMatchObject({
      status: 200,
    })
  }
}
const get = async (path: string) => (await registry.call('GET', path)).body
const failure = async (method: string, path: string, body?: unknown) => {
  const answer = await registry.call(method, path, body)
  const { error_code: code, message } = answer.body as { error_code: number; message: string }
  return [answer.status, code, message]
}

describe('registering a schema', () => {
  it('returns id, version, GUID, type and canonical text', async () => {
    const { body } = await registry.call('POST', '/subjects/s/versions', INT)
    expect(body).toEqual({
      id: 1,
      version: 1,
      guid: 'ef524ea1-b91e-7317-3d93-8ade36c1db32',
      schemaType: 'AVRO',
      schema: '"int"',
    })
  })

  it('returns only the ID with response profile 7', async () => {
    const older = await startTestRegistry({ 'weir.response.profile': '7' })
    expect((await older.call('POST', '/subjects/s/versions', INT)).body).toEqual({ id: 1 })
    expect((await older.call('GET', '/subjects/s/versions/1')).body).toEqual({
      subject: 's',
      version: 1,
      id: 1,
      schema: '"int"',
    })
    expect((await older.call('GET', '/schemas/ids/1')).body).toEqual({ schema: '"int"' })
    expect(await older.call('POST', '/subjects/s/versions', { schema: '"string"' })).toMatchObject({
      status: 409,
      body: { error_code: 409 },
    })
    await older.stop()
  })

  it('assigns one ID to a schema in all subjects, and one version in each subject', async () => {
    await register('s', INT, LONG, INT)
    await register('t', LONG)
    expect(await get('/subjects/s/versions')).toEqual([1, 2])
    expect(await get('/schemas/ids/2/versions')).toEqual([
      { subject: 's', version: 2 },
      { subject: 't', version: 1 },
    ])
    expect(registry.written).toHaveLength(3)
  })

  it('rejects an incompatible schema with all reasons', async () => {
    await register('s', record('a'))
    expect(await failure('POST', '/subjects/s/versions', record('a', 'b'))).toEqual([
      409,
      40901,
      `Schema being registered is incompatible with an earlier schema for subject "s", details: [{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'b' at path '/fields/1' in the new schema has no default value and is missing in the old schema', additionalInfo:'b'}, {oldSchemaVersion: 1}, {oldSchema: '${record('a').schema}'}, {validateFields: 'false', compatibility: 'BACKWARD'}]`,
    ])
    expect((await registry.call('POST', '/subjects/s/versions?force=true', record('a', 'b'))).status).toBe(200)
  })

  it.each([
    ['{"type":"record"}', 'details: No name in schema'],
    ['{', 'details: expected a member name'],
    ['', 'Empty schema'],
  ])('rejects the schema %j', async (schema, reason) => {
    const [status, code, message] = await failure('POST', '/subjects/s/versions', { schema })
    expect([status, code]).toEqual([422, 42201])
    expect(message).toContain(reason)
  })

  it('rejects an unknown type, an ID outside of mode IMPORT, and a version that is not the next one', async () => {
    expect(await failure('POST', '/subjects/s/versions', { ...INT, schemaType: 'XML' })).toEqual([
      422,
      42201,
      'Invalid schema type XML',
    ])
    expect(await failure('POST', '/subjects/s/versions', { ...INT, id: 5 })).toEqual([
      422,
      42205,
      'Subject s in context . is not in import mode',
    ])
    expect(await failure('POST', '/subjects/s/versions', { ...INT, version: 7 })).toEqual([
      422,
      42201,
      'Version is not one more than previous version',
    ])
  })

  it('stores references with the number of the latest version', async () => {
    await register('address', { schema: '{"type":"record","name":"n.Address","fields":[]}' })
    const person = {
      schema: '{"type":"record","name":"n.Person","fields":[{"name":"home","type":"Address"}]}',
      references: [{ name: 'n.Address', subject: 'address', version: -1 }],
    }
    await register('person', person)
    expect(await get('/subjects/person/versions/1')).toMatchObject({
      references: [{ name: 'n.Address', subject: 'address', version: 1 }],
      schema: '{"type":"record","name":"Person","namespace":"n","fields":[{"name":"home","type":"Address"}]}',
    })
    const resolved =
      '{"type":"record","name":"Person","namespace":"n","fields":[{"name":"home","type":{"type":"record","name":"Address","fields":[]}}]}'
    expect(await get('/subjects/person/versions/1?format=resolved')).toMatchObject({ schema: resolved })
    expect(await get('/subjects/address/versions/1/referencedby')).toEqual([2])
    // A schema with inlined references is the same schema.
    expect((await registry.call('POST', '/subjects/person', { schema: resolved })).body).toMatchObject({ version: 1 })
    expect(
      await failure('POST', '/subjects/x/versions', {
        ...person,
        references: [{ name: 'n', subject: 'no', version: 3 }],
      }),
    ).toEqual([422, 42201, 'No schema reference found for subject "no" and version 3'])
  })

  it('normalizes a schema with normalize=true', async () => {
    const doc = (...aliases: string[]) => ({
      schema: JSON.stringify({ type: 'record', name: 'R', fields: [], aliases }),
    })
    const stored = async (subject: string, query: string) => {
      await registry.call('POST', `/subjects/${subject}/versions${query}`, doc('b', 'a'))
      return (await registry.call('GET', `/subjects/${subject}/versions/1`)).body
    }
    expect(await stored('as-written', '')).toMatchObject({ schema: doc('b', 'a').schema })
    expect(await stored('normalised', '?normalize=true')).toMatchObject({ schema: doc('a', 'b').schema })
  })
})

describe('reading schemas', () => {
  beforeEach(() => register('s', INT, LONG))

  it.each([
    ['/subjects/s/versions/latest', 2],
    ['/subjects/s/versions/LATEST', 2],
    ['/subjects/s/versions/-1', 2],
    ['/subjects/s/versions/%201%20', 1],
  ])('GET %s returns version %i', async (path, version) => {
    expect(await get(path)).toMatchObject({
      subject: 's',
      version,
      id: version,
      schemaType: 'AVRO',
      ts: 1000 + version,
    })
  })

  it.each([
    [
      '/subjects/s/versions/0',
      422,
      42202,
      'The specified version \'0\' is not a valid version id. Allowed values are between [1, 2^31-1] and the string "latest"',
    ],
    ['/subjects/s/versions/-2', 422, 42202, expect.stringContaining("'-2'")],
    ['/subjects/s/versions/two', 422, 42202, expect.stringContaining("'two'")],
    ['/subjects/s/versions/3', 404, 40402, 'Version 3 not found.'],
    ['/subjects/x/versions/1', 404, 40401, "Subject 'x' not found."],
    ['/subjects/x/versions', 404, 40401, "Subject 'x' not found."],
    ['/schemas/ids/9', 404, 40403, 'Schema 9 not found'],
    ['/schemas/ids/9/schema', 404, 40403, 'Schema 9 not found'],
    ['/schemas/ids/9/subjects', 404, 40403, 'Schema 9 not found'],
    ['/schemas/ids/9/versions', 404, 40403, 'Schema 9 not found'],
    ['/schemas/ids/x', 404, 404, 'HTTP 404 Not Found'],
    ['/schemas/guids/x', 404, 40403, 'Schema x not found'],
    ['/nothing', 404, 404, 'HTTP 404 Not Found'],
  ])('GET %s fails with status %d and error code %d', async (path, status, code, message) => {
    expect(await failure('GET', path)).toEqual([status, code, message])
  })

  it('returns a schema by ID, with subject and version if the request names a subject', async () => {
    const guid = 'ef524ea1-b91e-7317-3d93-8ade36c1db32'
    expect(await get('/schemas/ids/1')).toEqual({ guid, schemaType: 'AVRO', schema: '"int"', ts: 1001 })
    expect(await get('/schemas/ids/1?subject=s&fetchMaxId=true')).toEqual({
      subject: 's',
      version: 1,
      guid,
      schemaType: 'AVRO',
      schema: '"int"',
      maxId: 2,
      ts: 1001,
    })
    expect(await get(`/schemas/guids/${guid}`)).toEqual({ guid, schemaType: 'AVRO', schema: '"int"', ts: 1001 })
    expect(await get(`/schemas/guids/${guid}/ids`)).toEqual([{ context: '.', id: 1 }])
    expect(await get('/schemas/ids/1/schema')).toBe('int')
    expect(await get('/schemas/ids/1/subjects')).toEqual(['s'])
    expect(await get('/schemas/types')).toContain('AVRO')
  })

  it('lists pages by offset and limit', async () => {
    await register('r', INT)
    expect(await get('/subjects')).toEqual(['r', 's'])
    expect(await get('/subjects?offset=1&limit=1')).toEqual(['s'])
    expect(await get('/subjects?subjectPrefix=r')).toEqual(['r'])
    expect(await get('/subjects/s/versions?limit=1')).toEqual([1])
    const schemas = (await get('/schemas?latestOnly=true')) as { subject: string; version: number }[]
    expect(schemas.map(({ subject, version }) => `${subject} ${version}`)).toEqual(['r 1', 's 2'])
  })

  it('looks up a schema by its content', async () => {
    expect((await registry.call('POST', '/subjects/s', INT)).body).toMatchObject({ subject: 's', version: 1, id: 1 })
    expect(await failure('POST', '/subjects/s', { schema: '"string"' })).toEqual([404, 40403, 'Schema not found'])
    expect(await failure('POST', '/subjects/x', INT)).toEqual([404, 40401, "Subject 'x' not found."])
  })

  it('decodes subject names with special characters', async () => {
    await register('a/b :c%', INT)
    expect(await get(`/subjects/${encodeURIComponent('a/b :c%')}/versions/1`)).toMatchObject({ subject: 'a/b :c%' })
  })
})

describe('deleting', () => {
  beforeEach(() => register('s', INT, LONG))
  const remove = async (path: string) => (await registry.call('DELETE', path)).body

  it('requires a soft delete before a version is hard-deleted', async () => {
    expect(await failure('DELETE', '/subjects/s/versions/1?permanent=true')).toEqual([
      404,
      40407,
      "Subject 's' Version 1 was not deleted first before being permanently deleted",
    ])
    expect(await remove('/subjects/s/versions/1')).toBe(1)
    expect(await failure('DELETE', '/subjects/s/versions/1')).toEqual([
      404,
      40406,
      "Subject 's' Version 1 was soft deleted.Set permanent=true to delete permanently",
    ])
    expect(await failure('GET', '/subjects/s/versions/1')).toEqual([404, 40402, 'Version 1 not found.'])
    expect(await get('/subjects/s/versions/1?deleted=true')).toMatchObject({ id: 1, deleted: true })
    expect(await get('/schemas/ids/1')).toMatchObject({ schema: '"int"', deleted: true })
    expect(await get('/subjects/s/versions?deletedAsNegative=true')).toEqual([-1, 2])
    expect(await get('/subjects/s/versions?deletedOnly=true')).toEqual([1])
    expect(await remove('/subjects/s/versions/1?permanent=true')).toBe(1)
    expect((await registry.call('GET', '/schemas/ids/1')).status).toBe(404)
  })

  it('requires a soft delete before a subject is hard-deleted', async () => {
    expect(await failure('DELETE', '/subjects/s?permanent=true')).toEqual([
      404,
      40405,
      "Subject 's' was not deleted first before being permanently deleted",
    ])
    expect(await remove('/subjects/s')).toEqual([1, 2])
    expect(registry.written.at(-1)).toEqual({
      key: '{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}',
      value: '{"subject":"s","version":2}',
    })
    expect(await get('/subjects')).toEqual([])
    expect(await get('/subjects?deleted=true')).toEqual(['s'])
    expect(await failure('DELETE', '/subjects/s')).toEqual([
      404,
      40404,
      "Subject 's' was soft deleted.Set permanent=true to delete permanently",
    ])
    await registry.call('PUT', '/config/s', { compatibility: 'NONE' })
    expect(await remove('/subjects/s?permanent=true')).toEqual([1, 2])
    expect(registry.written.slice(-3).map(({ key, value }) => [JSON.parse(key).keytype, value])).toEqual([
      ['SCHEMA', null],
      ['SCHEMA', null],
      ['CONFIG', null],
    ])
    expect(await failure('DELETE', '/subjects/s')).toEqual([404, 40401, "Subject 's' not found."])
    await register('s', { schema: '"bytes"' })
    expect(await get('/subjects/s/versions/latest')).toMatchObject({ version: 1, id: 3 })
  })

  it('does not prevent registering the schema again as a new version with its old ID', async () => {
    await remove('/subjects/s')
    await register('s', INT)
    expect(await get('/subjects/s/versions/latest')).toMatchObject({ version: 3, id: 1 })
    expect(await get('/subjects/s/versions?deletedAsNegative=true')).toEqual([-2, 3])
  })

  it('fails for a referenced schema', async () => {
    await register('address', { schema: '{"type":"record","name":"A","fields":[]}' })
    await register('person', {
      schema: '{"type":"record","name":"P","fields":[{"name":"a","type":"A"}]}',
      references: [{ name: 'A', subject: 'address', version: 1 }],
    })
    const rejection = [
      422,
      42206,
      'One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=address,version=1}.',
    ]
    expect(await failure('DELETE', '/subjects/address/versions/1')).toEqual(rejection)
    expect(await failure('DELETE', '/subjects/address')).toEqual(rejection)
    await remove('/subjects/person')
    expect(await remove('/subjects/address/versions/1')).toBe(1)
    expect(await failure('DELETE', '/subjects/address/versions/1?permanent=true')).toEqual(rejection)
  })
})
