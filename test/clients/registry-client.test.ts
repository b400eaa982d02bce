import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRegistryClient, REGISTRY_ERROR, type RegistryClient } from '../../src/clients/registry-client.ts'
import { startTestRegistry, type TestRegistry } from '../support/registry.ts'

let registry: TestRegistry
let client: RegistryClient
beforeEach(async () => {
  registry = await startTestRegistry()
  client = createRegistryClient({ url: `${registry.url}/`, timeoutMs: 5_000 })
})
afterEach(() => registry.stop())

const INT = { schema: '"int"' }

describe('the registry client', () => {
  it('registers, looks up and reads schemas', async () => {
    expect(await client.register('a/b', INT)).toMatchObject({ id: 1, version: 1 })
    expect(await client.lookup('a/b', INT)).toMatchObject({ subject: 'a/b', version: 1, id: 1 })
    expect(await client.byId(1)).toMatchObject(INT)
    expect(await client.latest('a/b')).toMatchObject({ version: 1 })
    expect(await client.version('a/b', 1)).toMatchObject({ version: 1 })
    expect(await client.versions('a/b')).toEqual([1])
    expect(await client.subjects({ prefix: 'a' })).toEqual(['a/b'])
  })

  it('returns the latest version of each subject in all contexts', async () => {
    await client.register('s', INT)
    await client.register('s', { schema: '"long"' })
    await client.register(':.other:s', INT)
    expect(await client.latestVersions()).toEqual(
      new Map([
        ['s', { version: 2, id: 2 }],
        [':.other:s', { version: 1, id: 1 }],
      ]),
    )
  })

  it('reuses an unchanged list by its ETag', async () => {
    const statuses: number[] = []
    const observed = createRegistryClient({
      url: registry.url,
      async through(call, send) {
        const answer = await send(call)
        statuses.push(answer.status)
        return answer
      },
    })
    const latestAfter = async (change: () => Promise<unknown>) => {
      await change()
      return [...(await observed.latestVersions())]
    }
    const first = [['s', { version: 1, id: 1 }]]
    expect(await latestAfter(() => client.register('s', INT))).toEqual(first)
    expect(await latestAfter(async () => undefined)).toEqual(first)
    expect(await latestAfter(() => client.deleteSubject('s'))).toEqual([])
    const second = [['s', { version: 2, id: 2 }]]
    expect(await latestAfter(() => client.register('s', { schema: '"long"' }))).toEqual(second)
    expect(statuses).toEqual([200, 304, 200, 200])
  })

  it('caches a schema by ID, but not a failure', async () => {
    await expect(client.byId(1)).rejects.toMatchObject({ errorCode: REGISTRY_ERROR.schemaNotFound })
    await client.register('s', INT)
    const [one, other] = await Promise.all([client.byId(1), client.byId(1)])
    expect(one).toBe(other)
    await registry.stop()
    expect(await client.byId(1)).toBe(one)
  })

  it('returns the reasons of an incompatibility', async () => {
    await client.register('s', INT)
    expect(await client.checkCompatibility('s', { schema: '"long"' })).toEqual({ compatible: true, messages: [] })
    const { compatible, messages } = await client.checkCompatibility('s', { schema: '"string"' }, { version: 'latest' })
    expect([compatible, messages[0]]).toEqual([false, expect.stringContaining('TYPE_MISMATCH')])
  })

  it('uses the name compatibility for reading and writing the level', async () => {
    await client.putConfig({ compatibility: 'FULL', normalize: true }, 's')
    expect(await client.config('s')).toEqual({ compatibility: 'FULL', normalize: true })
    await client.deleteConfig('s')
    await expect(client.config('s')).rejects.toMatchObject({ errorCode: REGISTRY_ERROR.configNotFound })
    expect(await client.config('s', { effective: true })).toEqual({ compatibility: 'BACKWARD' })
    await client.putMode('READONLY')
    expect([await client.mode(), await client.mode('s', { effective: true })]).toEqual(['READONLY', 'READONLY'])
    await client.deleteMode()
    expect(await client.mode()).toBe('READWRITE')
  })

  it('deletes versions and subjects', async () => {
    await client.register('s', INT)
    await client.register('s', { schema: '"long"' })
    expect(await client.deleteVersion('s', 1)).toBe(1)
    expect(await client.deleteSubject('s')).toEqual([2])
    expect(await client.deleteSubject('s', { permanent: true })).toEqual([1, 2])
  })

  it('distinguishes error responses from connection failures', async () => {
    await expect(client.latest('x')).rejects.toMatchObject({
      name: 'RequestError',
      status: 404,
      errorCode: REGISTRY_ERROR.subjectNotFound,
      message: "Subject 'x' not found.",
      retriable: false,
    })
    await registry.stop()
    await expect(client.latest('x')).rejects.toMatchObject({
      status: 0,
      retriable: true,
      message: expect.stringMatching(/^GET .*\/subjects\/x\/versions\/latest: .*ECONNREFUSED/),
    })
  })
})
