import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  archiveLocation,
  checkExportTarget,
  readArchive,
  writeArchive,
} from '../../../src/cli/archive/archive-files.ts'
import { collectArchive } from '../../../src/cli/archive/collect-archive.ts'
import { withArchivedTexts } from '../../../src/cli/archive/equivalent-schemas.ts'
import { executeImport } from '../../../src/cli/archive/execute-import.ts'
import { countVersionsToRegister, type ImportPlan, planImport } from '../../../src/cli/archive/import-plan.ts'
import { type RegistryArchive, versionsOf } from '../../../src/cli/archive/registry-archive.ts'
import { RequestError } from '../../../src/clients/http-client.ts'
import { createRegistryClient, type RegistryClient } from '../../../src/clients/registry-client.ts'
import { registerSchemas } from '../../support/register-schemas.ts'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const INT = { schema: '"int"' }
const LONG = { schema: '"long"' }

let registries: readonly TestRegistry[]
let source: RegistryClient
let target: RegistryClient
vi.setConfig({ testTimeout: 60_000 })
beforeAll(async () => {
  registries = await Promise.all([startTestRegistry(), startTestRegistry(), startTestRegistry()])
})
afterAll(() => Promise.all(registries.map((registry) => registry.stop())))
beforeEach(() => {
  source = emptied(registries[0])
  target = emptied(registries[1])
})

/** Uses a new client, because a client caches schemas by id. */
function emptied(registry: TestRegistry | undefined): RegistryClient {
  registry?.reset()
  return createRegistryClient({ url: registry?.url ?? '' })
}

const everything = (client: RegistryClient): Promise<RegistryArchive> => collectArchive(client, { deleted: true })

async function planFor(archive: RegistryArchive, client: RegistryClient, schemasOnly = false): Promise<ImportPlan> {
  const target = await collectArchive(client, {
    deleted: true,
    extraSubjects: archive.subjects.map(({ subject }) => subject),
  })
  return planImport(archive, await withArchivedTexts(archive, target, client), { schemasOnly })
}

async function importInto(
  client: RegistryClient,
  archive: RegistryArchive,
  options: { readonly schemasOnly?: boolean } = {},
) {
  const plan = await planFor(archive, client, options.schemasOnly)
  expect(plan.conflicts).toEqual([])
  await executeImport(plan, client, {})
}

/** One of each kind of content that an export includes. */
async function registerOddities(client: RegistryClient): Promise<void> {
  const base = { schema: '{"type":"record","name":"Base","fields":[]}' }
  const referring = (version: number) => ({
    schema: '{"type":"array","items":"Base"}',
    references: [{ name: 'Base', subject: 'base', version }],
  })
  await client.register('base', base)
  await client.register(':.ctx:base', base)
  await client.register(':.ctx:referring', referring(1))
  await client.register('a/b c*Ü', { ...INT, metadata: { properties: { owner: 'me' }, tags: { f: ['PII'] } } })
  await client.register('ruled', {
    ...LONG,
    ruleSet: { domainRules: [{ name: 'r', kind: 'CONDITION', mode: 'WRITE', type: 'CEL', expr: 'true' }] },
  })
  await client.register('Case', INT)
  await client.register('case', LONG)
  await client.deleteSubject('case')
  await client.putConfig({ alias: 'Case' }, 'nickname')
  await client.putConfig({ compatibility: 'FULL', normalize: true }, 'ruled')
  await client.putConfig({ compatibility: 'NONE' }, ':.ctx:')
  await client.putConfig({ compatibility: 'FORWARD' })
  await client.putMode('READONLY', 'base')
  await client.putMode('READONLY', ':.ctx:')
}

/** A soft-deleted version followed by one with the same id, whose registration would remove the deleted one. */
async function registerDeletedTwin(client: RegistryClient): Promise<void> {
  await client.putMode('IMPORT', 'twin', { force: true })
  await client.register('twin', { ...LONG, id: 900, version: 2 })
  await client.register('twin', { ...LONG, id: 900, version: 1 })
  await client.deleteVersion('twin', 1)
  await client.deleteMode('twin')
}

/** A registry that fails after so many writes. */
function failingAfter(writes: number, client: RegistryClient): RegistryClient {
  let left = writes
  const reads = /^(byId|latest|versions?|subjects|contexts|aliases|lookup|config|mode)$/
  const fail = async () => {
    throw new RequestError(422, 50_001, 'failed')
  }
  const calls = Object.entries(client).map(([name, call]) => [
    name,
    reads.test(name)
      ? call
      : (...args: never[]) => (left-- > 0 ? (call as (...args: never[]) => unknown)(...args) : fail()),
  ])
  return Object.fromEntries(calls) as RegistryClient
}

describe('export and import', () => {
  it.each(['archive.json', 'archive'])('reproduce a registry through %s', { tags: ['slow'] }, async (name) => {
    await registerOddities(source)
    await registerDeletedTwin(source)
    const path = join(temporaryDirectory(), name)
    const archive = await everything(source)
    writeArchive(archiveLocation(path), archive)
    const read = readArchive(path)
    expect(new Set(read.subjects)).toEqual(new Set(archive.subjects))
    await importInto(target, read)
    expect(await everything(target)).toEqual(archive)
  })

  it('include versions of all formats with their references', { tags: ['slow'] }, async () => {
    await registerSchemas(source, 60)
    const archive = await everything(source)
    expect(versionsOf(archive)).toHaveLength(60)
    await importInto(target, archive)
    expect(await everything(target)).toEqual(archive)
  })

  it('leave soft-deleted versions out unless another version references them', { tags: ['slow'] }, async () => {
    await registerOddities(source)
    await source.register('old', { schema: '{"type":"record","name":"Old","fields":[]}' })
    await source.deleteSubject('old')
    const references = [{ name: 'Old', subject: 'old', version: 1 }]
    await source.register('referring', { schema: '{"type":"map","values":"Old"}', references })
    const archive = await collectArchive(source, { deleted: false })
    const deleted = versionsOf(archive).filter(({ version }) => version.deleted)
    expect(deleted.map(({ subject }) => subject)).toEqual(['old'])
    await importInto(target, archive)
    expect(await collectArchive(target, { deleted: false })).toEqual(archive)
  })

  it('plan no changes the second time', async () => {
    await registerOddities(source)
    const archive = await everything(source)
    await importInto(target, archive)
    expect(await planFor(archive, target)).toEqual({
      conflicts: [],
      contextConfigs: [],
      waves: [],
      subjectConfigs: [],
      modes: [],
    })
  })
})

describe('an interrupted import', () => {
  it('is completed by a second one, whichever write failed', { tags: ['slow'] }, async () => {
    await registerDeletedTwin(source)
    await source.register('base', { schema: '{"type":"record","name":"Base","fields":[]}' })
    const references = [{ name: 'Base', subject: 'base', version: 1 }]
    await source.register('referring', { schema: '{"type":"array","items":"Base"}', references })
    await source.putConfig({ alias: 'base' }, 'nickname')
    await source.putConfig({ compatibility: 'FULL' })
    await source.putMode('READONLY', 'base')
    await source.putMode('READONLY')
    const archive = await everything(source)
    for (let writes = 0; ; writes++) {
      const registry = emptied(registries[2])
      const done = await executeImport(await planFor(archive, registry), failingAfter(writes, registry), {}).then(
        () => true,
        () => false,
      )
      await importInto(registry, archive)
      expect(await everything(registry)).toEqual(archive)
      if (done) break
    }
  })

  it('restores modes when the registry rejects a schema', async () => {
    await target.register('kept', INT)
    await target.putMode('READONLY', 'kept')
    const subjects = [
      { subject: 'kept', mode: 'READONLY' as const, versions: [{ version: 2, id: 7, schema: '"float"' }] },
      {
        subject: 'wrong',
        versions: [
          { version: 1, id: 8, schema: '"long"' },
          { version: 2, id: 9, schema: 'nonsense' },
        ],
      },
    ]
    const plan = await planFor({ contexts: [], subjects }, target)
    await expect(executeImport(plan, target, {})).rejects.toMatchObject({ errorCode: 42201 })
    expect(await target.mode('kept')).toBe('READONLY')
    await expect(target.mode('wrong')).rejects.toMatchObject({ status: 404 })
  })

  it('stops between two versions when it is aborted, and restores the mode', async () => {
    const versions = [3, 4, 5].map((id) => ({ version: id, id, schema: `{"type":"fixed","name":"F","size":${id}}` }))
    const controller = new AbortController()
    const plan = await planFor({ contexts: [], subjects: [{ subject: 's', versions }] }, target)
    const options = { signal: controller.signal, onVersion: () => controller.abort(new Error('interrupted')) }
    await expect(executeImport(plan, target, options)).rejects.toThrow('interrupted')
    expect(await target.versions('s')).toEqual([5])
    await expect(target.mode('s')).rejects.toMatchObject({ status: 404 })
  })
})

describe('conflicts with an export', () => {
  it('are all listed', async () => {
    await target.register('place', LONG)
    await target.register('taken', { schema: '"string"' })
    await target.register('gone', { schema: '"float"' })
    await target.register('gone', { schema: '"double"' })
    await target.deleteVersion('gone', 1)
    await target.putConfig({ compatibility: 'NONE' }, 'set')
    await target.register('lacking', { schema: '"boolean"' })
    await target.putMode('READONLY', 'lacking')
    const archive: RegistryArchive = {
      contexts: [{ context: '.', config: { compatibility: 'FULL' } }],
      subjects: [
        { subject: 'place', versions: [{ version: 1, id: 99, schema: '"long"' }] },
        { subject: 'new', versions: [{ version: 1, id: 2, schema: '"bytes"' }] },
        {
          subject: 'gone',
          versions: [
            { version: 1, id: 3, schema: '"float"' },
            { version: 2, id: 4, schema: '"double"', deleted: true },
          ],
        },
        { subject: 'set', config: { compatibility: 'FULL' }, versions: [] },
        { subject: 'lacking', versions: [{ version: 2, id: 50, schema: '"float"' }] },
      ],
    }
    expect((await planFor(archive, target)).conflicts).toEqual([
      'place version 1 has id 1 in the registry, not 99',
      'id 2 of new version 1 belongs to another schema in the registry, that of taken version 1',
      'gone version 1 is deleted in the registry, but not in the export',
      'gone version 2 is deleted in the export, but not in the registry',
      'subject lacking has mode READONLY in the registry: delete that mode first',
      'context . has another config in the registry: {"compatibility":"BACKWARD"}, not {"compatibility":"FULL"}',
      'subject set has another config in the registry: {"compatibility":"NONE"}, not {"compatibility":"FULL"}',
    ])
    expect((await planFor(archive, target, true)).conflicts).toHaveLength(5)
  })

  it('do not include another formatting of the same schema', async () => {
    const spelled = (schema: string): RegistryArchive => ({
      contexts: [],
      subjects: [{ subject: 's', versions: [{ version: 1, id: 1, schema }] }],
    })
    await target.register('s', { schema: '{"type":"record","name":"R","fields":[]}' })
    const { conflicts, waves } = await planFor(spelled('{ "name": "R", "type": "record", "fields": [ ] }'), target)
    expect([conflicts, waves]).toEqual([[], []])
    expect((await planFor(spelled('{"type":"record","name":"S","fields":[]}'), target)).conflicts).toHaveLength(1)
  })

  it('do not concern settings with --schemas-only', async () => {
    await registerOddities(source)
    await target.putConfig({ compatibility: 'NONE' })
    const archive = await everything(source)
    await importInto(target, archive, { schemasOnly: true })
    const imported = await everything(target)
    expect(imported.subjects.map(({ versions }) => versions)).toEqual(
      archive.subjects.filter(({ versions }) => versions.length > 0).map(({ versions }) => versions),
    )
    expect(imported.contexts.map(({ mode, config }) => [mode, config?.compatibility])).toEqual([
      [undefined, 'NONE'],
      [undefined, undefined],
      [undefined, 'BACKWARD'],
    ])
  })
})

it('counts the versions that an import still has to register', async () => {
  await source.register('s', INT)
  await source.register('t', INT)
  const archive = await everything(source)
  expect(countVersionsToRegister(await planFor(archive, target))).toBe(2)
  await importInto(target, { ...archive, subjects: archive.subjects.slice(0, 1) })
  expect(countVersionsToRegister(await planFor(archive, target))).toBe(1)
})

describe('the files of an export', () => {
  const one = (subject: string): RegistryArchive => ({
    contexts: [],
    subjects: [{ subject, versions: [{ version: 1, id: 1, schema: '"int"' }] }],
  })

  it('replace an earlier export, and nothing else', () => {
    const path = join(temporaryDirectory(), 'archive')
    writeArchive(archiveLocation(path), one('first'))
    mkdirSync(join(path, '.git'))
    checkExportTarget(archiveLocation(path))
    writeArchive(archiveLocation(path), one('second'))
    expect(readArchive(path)).toEqual(one('second'))
    writeFileSync(join(path, 'notes.txt'), '')
    expect(() => checkExportTarget(archiveLocation(path))).toThrow('contains other files than an export')
  })

  it('are not imported if two of them have the same subject, or a list of them is missing', () => {
    const path = join(temporaryDirectory(), 'archive')
    writeArchive(archiveLocation(path), one('first'))
    cpSync(join(path, 'subjects', 'first.json'), join(path, 'subjects', 'copy.json'))
    expect(() => readArchive(path)).toThrow(`${path} cannot be imported: it contains subject first twice`)
    rmSync(join(path, 'subjects'), { recursive: true })
    expect(() => readArchive(path)).toThrow(expect.objectContaining({ code: 'unreadable_dump' }))
  })

  it('are not imported with two contents of a version or a context', () => {
    const path = join(temporaryDirectory(), 'archive.json')
    const [subject] = one('first').subjects
    const versions = [...subject!.versions, { version: 1, id: 2, schema: '"long"' }]
    writeArchive(archiveLocation(path), { contexts: [], subjects: [{ ...subject!, versions }] })
    expect(() => readArchive(path)).toThrow('it contains version 1 of subject first twice')
    writeArchive(archiveLocation(path), { contexts: [{ context: '.' }, { context: '.' }], subjects: [] })
    expect(() => readArchive(path)).toThrow('it contains context . twice')
  })

  it('replace a file only if it is empty or an earlier export', () => {
    const path = join(temporaryDirectory(), 'archive.json')
    writeArchive(archiveLocation(path), one('first'))
    checkExportTarget(archiveLocation(path))
    writeFileSync(path, '')
    checkExportTarget(archiveLocation(path))
    writeFileSync(path, '{"format":"weir-topic-1"}')
    for (const other of [path, '/dev/null']) {
      expect(() => checkExportTarget(archiveLocation(other))).toThrow(`${other} exists and is not an export`)
    }
  })

  it('have unique names for subjects that differ in case or are very long', () => {
    const path = join(temporaryDirectory(), 'archive')
    const names = ['', 'a', 'A', 'a/../b', ':.ctx:a', 'é'.repeat(300), `${'é'.repeat(300)}x`]
    const subjects = names.map((subject) => ({ subject, versions: [] }))
    writeArchive(archiveLocation(path), { contexts: [], subjects })
    expect(
      readArchive(path)
        .subjects.map(({ subject }) => subject)
        .sort(),
    ).toEqual(names.toSorted())
    const files = readdirSync(join(path, 'subjects')).map((name) => name.toLowerCase())
    expect(new Set(files).size).toBe(names.length)
  })

  it('are rejected when they are incomplete or invalid', () => {
    const path = join(temporaryDirectory(), 'archive')
    writeArchive(archiveLocation(path), one('s'))
    writeFileSync(join(path, 'subjects/s.json'), '{"subject":"s","versions":[{"version":0,"id":1,"schema":""}]}')
    expect(() => readArchive(path)).toThrow(/s\.json cannot be imported: versions\.0\.version/)
    rmSync(join(path, 'registry.json'))
    expect(() => readArchive(path)).toThrow('registry.json is missing')
    expect(() => readArchive(join(path, 'none'))).toThrow('no such file or directory')
  })
})
