import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLogger, silentLogger } from '../../../../src/common/logging/logger.ts'
import { API_VERSION, DEPRECATED_API_VERSIONS, deprecationWarning } from '../../../../src/common/resource-api.ts'
import { DirectoryCluster } from '../../../../src/operator/cluster/directory/directory-cluster.ts'
import { FakeClock } from '../../../support/fake-clock.ts'

const CONNECTOR = (name: string, spec = 'class: A') =>
  `apiVersion: ${API_VERSION}\nkind: Connector\nmetadata: {name: ${name}}\nspec: {${spec}}\n`
const A = 'Connector/default/a'

let folder: string
let clock: FakeClock
let cluster: DirectoryCluster
const changes: string[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-'))
  clock = new FakeClock()
  cluster = new DirectoryCluster({ path: folder, clock, logger: silentLogger() })
  changes.length = 0
  cluster.onChange(({ key, type }) => changes.push(`${key} ${type}`))
})
afterEach(async () => {
  await cluster.stop()
  rmSync(folder, { recursive: true })
})

const write = (file: string, text: string) => writeFileSync(join(folder, file), text)

/** Advances the clock until the condition holds. Reading files takes real time. */
async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 10_000
  while (!(await condition()) && performance.now() < deadlineMs) await clock.advance(100)
  expect(await condition()).toBe(true)
}

/** Waits for this number of completed polls of the folder. */
async function waitForPolls(count: number): Promise<void> {
  for (let poll = 0; poll < count; poll++) {
    const marker = `poll${poll}`
    write('marker.yaml', CONNECTOR(marker))
    await eventually(() => cluster.get(`Connector/default/${marker}`) !== undefined)
  }
  rmSync(join(folder, 'marker.yaml'))
}

describe('the resources of a directory', () => {
  it('have namespaces without known labels', async () => {
    write('a.yaml', CONNECTOR('a'))
    await cluster.start()
    await cluster.watchNamespaces()
    expect(cluster.namespace()).toBeUndefined()
  })

  it('are read at the start, from subdirectories too, but not from hidden files or other file types', async () => {
    mkdirSync(join(folder, 'sub'))
    mkdirSync(join(folder, '.hidden'))
    write('a.yaml', CONNECTOR('a'))
    write('sub/b.yml', CONNECTOR('b'))
    write('.hidden/c.yaml', CONNECTOR('c'))
    write('notes.txt', 'none of these')
    await cluster.start()
    expect(cluster.list('Connector').map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
    expect(cluster.manifestErrors()).toEqual([])
  })

  it('keep their uid and generation while their manifest does not change', async () => {
    write('a.yaml', CONNECTOR('a'))
    await cluster.start()
    const before = cluster.get(A)!
    write('a.yaml', `# a comment\n${CONNECTOR('a')}`)
    await waitForPolls(1)
    expect(cluster.get(A)).toBe(before)
    write('a.yaml', CONNECTOR('a', 'class: A, tasksMax: 2'))
    await eventually(() => cluster.get(A)!.metadata.generation === 2)
    expect(cluster.get(A)!.metadata.uid).toBe(before.metadata.uid)
  })

  it('keep their previous version while a manifest is invalid, and the error has a position', async () => {
    write('a.yaml', CONNECTOR('a'))
    await cluster.start()
    write('a.yaml', CONNECTOR('a', 'clas: A'))
    await eventually(() => cluster.manifestErrors().length > 0)
    expect(cluster.manifestErrors()[0]).toMatchObject({ key: A, file: join(folder, 'a.yaml'), line: 4 })
    await waitForPolls(3)
    expect(cluster.get(A)).toMatchObject({ spec: { class: 'A' } })
    expect(cluster.get(A)!.metadata.deletionTimestamp).toBeUndefined()
  })

  it('keep their previous version while a file cannot be opened, and the error names the file', async () => {
    write('a.yaml', CONNECTOR('a'))
    await cluster.start()
    rmSync(join(folder, 'a.yaml'))
    // A symbolic link to itself: not even root can open it.
    symlinkSync('a.yaml', join(folder, 'a.yaml'))
    await eventually(() => cluster.manifestErrors().length > 0)
    expect(cluster.manifestErrors()[0]).toMatchObject({ file: join(folder, 'a.yaml') })
    expect(cluster.manifestErrors()[0]?.message).toMatch(/^cannot be read: ELOOP/)
    await waitForPolls(3)
    expect(cluster.get(A)).toMatchObject({ spec: { class: 'A' } })
    expect(cluster.get(A)!.metadata.deletionTimestamp).toBeUndefined()
  })

  it('reject a change of an immutable field', async () => {
    write('a.yaml', CONNECTOR('a', 'class: A, name: one'))
    await cluster.start()
    write('a.yaml', CONNECTOR('a', 'class: A, name: two'))
    await eventually(() => cluster.manifestErrors().length > 0)
    expect(cluster.manifestErrors()[0]?.message).toMatch(/^spec\.name is immutable: it was "one"/)
    expect(cluster.get(A)).toMatchObject({ spec: { name: 'one' } })
  })

  it('are declared once: of two manifests with the same name, the one in force wins', async () => {
    write('m.yaml', CONNECTOR('a', 'class: First'))
    await cluster.start()
    write('b.yaml', CONNECTOR('a', 'class: Second'))
    await eventually(() => cluster.manifestErrors().length > 0)
    expect(cluster.get(A)).toMatchObject({ spec: { class: 'First' } })
    expect(cluster.manifestErrors()[0]).toMatchObject({ file: join(folder, 'b.yaml'), line: 1 })
    rmSync(join(folder, 'm.yaml'))
    await eventually(() => cluster.manifestErrors().length === 0)
    expect(cluster.get(A)).toMatchObject({ spec: { class: 'Second' } })
    expect(changes).not.toContain(`${A} deleted`)
  })
})

describe('a manifest that is removed', () => {
  it('deletes a resource without a finalizer after the delay', async () => {
    write('a.yaml', CONNECTOR('a'))
    await cluster.start()
    rmSync(join(folder, 'a.yaml'))
    await eventually(() => cluster.get(A) === undefined)
    expect(changes.at(-1)).toBe(`${A} deleted`)
  })

  it('marks a resource with a finalizer as deleted, until the manifest is added again', async () => {
    write('a.yaml', CONNECTOR('a'))
    await cluster.start()
    await cluster.setFinalizer(A, true)
    rmSync(join(folder, 'a.yaml'))
    await eventually(() => cluster.get(A)?.metadata.deletionTimestamp !== undefined)
    write('a.yaml', CONNECTOR('a'))
    await eventually(() => cluster.get(A)?.metadata.deletionTimestamp === undefined)
    rmSync(join(folder, 'a.yaml'))
    await eventually(() => cluster.get(A)?.metadata.deletionTimestamp !== undefined)
    await cluster.setFinalizer(A, false)
    expect(cluster.get(A)).toBeUndefined()
  })

  it('deletes nothing when the resource was moved to another file', async () => {
    write('a.yaml', CONNECTOR('a'))
    await cluster.start()
    const before = cluster.get(A)
    renameSync(join(folder, 'a.yaml'), join(folder, 'z.yaml'))
    await waitForPolls(4)
    expect(cluster.get(A)).toBe(before)
  })

  it('deletes nothing while its directory cannot be listed', async () => {
    write('a.yaml', CONNECTOR('a'))
    await cluster.start()
    rmSync(folder, { recursive: true })
    writeFileSync(folder, 'a file in its place')
    await eventually(() => cluster.manifestErrors().length > 0)
    expect(cluster.manifestErrors()[0]?.message).toMatch(/^cannot list this folder: /)
    await clock.advance(10_000)
    expect(cluster.get(A)?.metadata.deletionTimestamp).toBeUndefined()
  })
})

describe('a directory cluster', () => {
  it('keeps the status in memory and reports its changes', async () => {
    write('a.yaml', CONNECTOR('a'))
    await cluster.start()
    changes.length = 0
    const { status } = cluster.get(A)!
    await cluster.writeStatus(A, { ...status, observedGeneration: 1 })
    expect(changes).toEqual([`${A} status`])
    expect(cluster.get(A)?.status.observedGeneration).toBe(1)
    await cluster.writeStatus('Connector/default/none', status)
    expect(changes).toEqual([`${A} status`])
  })

  it('writes a ConfigMap to a manifest of its own, and does not change one that another manifest declares', async () => {
    await cluster.start()
    expect(await cluster.writeConfigMap('default', 'saved', { k: 'one' })).toBe(true)
    expect(await cluster.writeConfigMap('default', 'saved', { k: 'two\n' })).toBe(true)
    await eventually(async () => (await cluster.configMap('default', 'saved'))?.get('k') === 'two\n')
    write('m.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {k: mine}\n')
    await eventually(async () => (await cluster.configMap('default', 'm')) !== undefined)
    expect(await cluster.writeConfigMap('default', 'm', { k: 'theirs' })).toBe(false)
  })

  it('reads manifests of a deprecated API version, and warns once for each content of a file', async () => {
    const [deprecated] = DEPRECATED_API_VERSIONS as readonly [string]
    const old = (name: string) => CONNECTOR(name).replace(API_VERSION, deprecated)
    const warnings: string[] = []
    const logger = createLogger({ level: 'warn', write: (line) => warnings.push(JSON.parse(line).msg) })
    cluster = new DirectoryCluster({ path: folder, clock, logger })
    write('a.yaml', `${old('a')}---\n${old('b')}`)
    write('c.yaml', CONNECTOR('c'))
    await cluster.start()
    expect(cluster.list('Connector').map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c'])
    expect(warnings).toEqual([deprecationWarning(deprecated)])
    write('c.yaml', CONNECTOR('c', 'class: B'))
    await eventually(() => cluster.get('Connector/default/c')?.spec.class === 'B')
    expect(warnings).toHaveLength(1)
    write('a.yaml', old('a'))
    await eventually(() => warnings.length === 2)
  })

  it('keeps the earlier ConfigMap if the new one cannot be written', async () => {
    await cluster.start()
    await cluster.writeConfigMap('default', 'saved', { k: 'one' })
    const file = join(folder, 'default.saved.exported.yaml')
    mkdirSync(`${file}.partial`)
    await expect(cluster.writeConfigMap('default', 'saved', { k: 'two' })).rejects.toThrow('EISDIR')
    expect(readFileSync(file, 'utf8')).toContain('one')
  })

  it('reads ConfigMaps, and reports a change of one for the resources that refer to it', async () => {
    write('a.yaml', CONNECTOR('a', 'class: A, configFrom: [{configMapRef: {name: m}}]'))
    write('b.yaml', CONNECTOR('b'))
    write('m.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {k: one}\n')
    await cluster.start()
    expect(await cluster.configMap('default', 'm')).toEqual(new Map([['k', 'one']]))
    changes.length = 0
    write('m.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {k: two}\n')
    await eventually(() => changes.length > 0)
    expect(changes).toEqual([`${A} desired`])
    expect(await cluster.configMap('default', 'm')).toEqual(new Map([['k', 'two']]))
  })
})
