import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { collectArchive } from '../../../src/cli/archive/collect-archive.ts'
import { registerAnew } from '../../../src/cli/archive/register-anew.ts'
import type { RegistryArchive } from '../../../src/cli/archive/registry-archive.ts'
import { createRegistryClient, type RegistryClient } from '../../../src/clients/registry-client.ts'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'

const record = (name: string, ...fields: object[]) => ({ schema: JSON.stringify({ type: 'record', name, fields }) })
const referring = (version: number, subject = 'base') => ({
  schema: '{"type":"array","items":"Base"}',
  references: [{ name: 'Base', subject, version }],
})
const OPTIONAL = { name: 'n', type: 'int', default: 0 }
const REQUIRED = { name: 'n', type: 'int' }

let registries: readonly TestRegistry[]
let source: RegistryClient
let target: RegistryClient
vi.setConfig({ testTimeout: 60_000 })
beforeAll(async () => {
  registries = await Promise.all([startTestRegistry(), startTestRegistry()])
})
afterAll(() => Promise.all(registries.map((registry) => registry.stop())))
beforeEach(async () => {
  for (const registry of registries) registry.reset()
  ;[source, target] = registries.map(({ url }) => createRegistryClient({ url })) as [RegistryClient, RegistryClient]
  // The ids 1 and 2 of the target belong to other schemas.
  await target.register('others', record('Other'))
  await target.register('others', record('Other', OPTIONAL))
})

const exported = () => collectArchive(source, { deleted: false })
const everything = (client: RegistryClient): Promise<RegistryArchive> => collectArchive(client, { deleted: true })

describe('a restore with new ids', () => {
  it('registers each version in its order with the next free id, and reports old and new ids', {
    tags: ['slow'],
  }, async () => {
    await source.register('a', record('A'))
    await source.register('a', record('A', OPTIONAL))
    await source.register('b', record('A'))
    const { assigned, rejected } = await registerAnew(await exported(), target)
    expect(rejected).toEqual([])
    expect(assigned).toEqual([
      { subject: 'a', version: 1, id: 1, newVersion: 1, newId: 3 },
      { subject: 'a', version: 2, id: 2, newVersion: 2, newId: 4 },
      { subject: 'b', version: 1, id: 1, newVersion: 1, newId: 3 },
    ])
    expect(await target.version('a', 2)).toMatchObject({ id: 4, ...record('A', OPTIONAL) })
    const before = await everything(target)
    expect(await registerAnew(await exported(), target)).toEqual({ assigned, rejected: [] })
    expect(await everything(target)).toEqual(before)
  })

  it('registers referenced versions first, and points references to the versions that they have now', async () => {
    await source.register('base', record('Base'))
    await source.register('base', record('Base', OPTIONAL))
    await source.deleteVersion('base', 1)
    // Its name precedes that of the subject that it references.
    await source.register('a', referring(2))
    await source.register(':.c:base', record('Base'))
    await source.register(':.c:a', referring(1))
    const { assigned, rejected } = await registerAnew(await exported(), target)
    expect(rejected).toEqual([])
    expect(assigned.find(({ subject }) => subject === 'base')).toMatchObject({ version: 2, newVersion: 1 })
    expect(await target.latest('a')).toMatchObject(referring(1))
    expect(await target.latest(':.c:a')).toMatchObject(referring(1))
  })

  it('deletes versions again that were deleted, also in a second run', async () => {
    await source.register('base', record('Base'))
    await source.register('a', referring(1))
    await source.deleteVersion('base', 1).catch(() => undefined)
    const archive = await exported()
    const deleted = archive.subjects.map((one) =>
      one.subject === 'base'
        ? { ...one, versions: one.versions.map((version) => ({ ...version, deleted: true as const })) }
        : one,
    )
    for (const _ of ['first', 'second']) await registerAnew({ ...archive, subjects: deleted }, target)
    expect(await target.versions('base', { deleted: true })).toEqual([1])
    await expect(target.versions('base')).rejects.toMatchObject({ status: 404 })
    expect(await target.latest('a')).toMatchObject(referring(1))
  })

  it('lists the versions that the registry rejects, and registers the others', async () => {
    await source.putConfig({ compatibility: 'NONE' })
    await source.register('a', record('A'))
    await source.register('a', record('A', REQUIRED))
    await source.register('b', record('B'))
    const { assigned, rejected } = await registerAnew(await exported(), target)
    expect(assigned.map(({ subject, version }) => `${subject} ${version}`)).toEqual(['a 1', 'b 1'])
    expect(rejected).toEqual([expect.stringMatching(/^a version 2: .*incompatible/)])
  })

  it('ends with the error of a registry that does not respond, instead of taking it for a rejection', async () => {
    await source.register('a', record('A'))
    const archive = await exported()
    const unavailable = { ...target, register: () => Promise.reject(new Error('unavailable')) } as RegistryClient
    await expect(registerAnew(archive, unavailable)).rejects.toThrow('unavailable')
  })
})
