import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../../src/config/logger.ts'
import { DirectoryCluster } from '../../../../src/operator/cluster/directory/directory-cluster.ts'
import { FakeClock } from '../../../support/fake-clock.ts'

const CONNECTOR = (name: string, spec = 'class: A') =>
  `apiVersion: weir.dev/v1alpha1\nkind: Connector\nmetadata: {name: ${name}}\nspec: {${spec}}\n`
const A = 'Connector/default/a'

let folder: string
let clock: FakeClock
let cluster: DirectoryCluster
const heard: string[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-'))
  clock = new FakeClock()
  cluster = new DirectoryCluster({ path: folder, clock, logger: silentLogger() })
  heard.length = 0
  cluster.onChange(({ key, type }) => heard.push(`${key} ${type}`))
})
afterEach(async () => {
  await cluster.stop()
  rmSync(folder, { recursive: true })
})

const write = (file: string, text: string) => writeFileSync(join(folder, file), text)

/** Lets time pass until it is so; files are read by the machine's own time. */
async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 10_000
  while (!(await isSo()) && performance.now() < deadlineMs) await clock.advance(100)
  expect(await isSo()).toBe(true)
}

/** So many looks at the folder, each of them finished. */
async function looks(count: number): Promise<void> {
  for (let look = 0; look < count; look++) {
    const marker = `look${look}`
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
    await looks(1)
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
    await looks(3)
    expect(cluster.get(A)).toMatchObject({ spec: { class: 'A' } })
    expect(cluster.get(A)!.metadata.deletionTimestamp).toBeUndefined()
  })

  it('keep their previous version while a file cannot be opened, and the error names the file', async () => {
    write('a.yaml', CONNECTOR('a'))
    await cluster.start()
    rmSync(join(folder, 'a.yaml'))
    // Leads to itself: nobody can open it, root neither.
    symlinkSync('a.yaml', join(folder, 'a.yaml'))
    await eventually(() => cluster.manifestErrors().length > 0)
    expect(cluster.manifestErrors()[0]).toMatchObject({ file: join(folder, 'a.yaml') })
    expect(cluster.manifestErrors()[0]?.message).toMatch(/^cannot be read: ELOOP/)
    await looks(3)
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
    expect(heard).not.toContain(`${A} deleted`)
  })
})

describe('a manifest that is removed', () => {
  it('deletes a resource without a finalizer after the delay', async () => {
    write('a.yaml', CONNECTOR('a'))
    await cluster.start()
    rmSync(join(folder, 'a.yaml'))
    await eventually(() => cluster.get(A) === undefined)
    expect(heard.at(-1)).toBe(`${A} deleted`)
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
    await looks(4)
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
    heard.length = 0
    const { status } = cluster.get(A)!
    await cluster.writeStatus(A, { ...status, observedGeneration: 1 })
    expect(heard).toEqual([`${A} status`])
    expect(cluster.get(A)?.status.observedGeneration).toBe(1)
    await cluster.writeStatus('Connector/default/none', status)
    expect(heard).toEqual([`${A} status`])
  })

  it('writes a ConfigMap to a manifest of its own, and does not change one that another manifest declares', async () => {
    await cluster.start()
    expect(await cluster.writeConfigMap('default', 'saved', { k: 'one' })).toBe(true)
    expect(await cluster.writeConfigMap('default', 'saved', { k: 'two\n' })).toBe(true)
    await eventually(async () => (await cluster.configMap('default', 'saved'))?.['k'] === 'two\n')
    write('m.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {k: mine}\n')
    await eventually(async () => (await cluster.configMap('default', 'm')) !== undefined)
    expect(await cluster.writeConfigMap('default', 'm', { k: 'theirs' })).toBe(false)
  })

  it('reads ConfigMaps, and reports a change of one for every resource', async () => {
    write('a.yaml', CONNECTOR('a'))
    write('m.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {k: one}\n')
    await cluster.start()
    expect(await cluster.configMap('default', 'm')).toEqual({ k: 'one' })
    heard.length = 0
    write('m.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {k: two}\n')
    await eventually(() => heard.includes(`${A} desired`))
    expect(await cluster.configMap('default', 'm')).toEqual({ k: 'two' })
  })
})
