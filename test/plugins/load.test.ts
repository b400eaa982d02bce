import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCatalog } from '../../src/plugins/catalog.ts'
import { type Loaded, type PluginFault, resolveConflicts } from '../../src/plugins/conflict-resolution.ts'
import { discoverModules } from '../../src/plugins/discovery.ts'
import { importPlugins } from '../../src/plugins/import-plugins.ts'
import { loadModules } from '../../src/plugins/load-modules.ts'
import { SHIPPED } from '../../src/plugins/shipped.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const plugin = (name: string, more = '') => `import { definePredicate, z } from 'weir/sdk'
export const ${name.replace(/.*\./, '').toLowerCase()} = definePredicate({
  class: '${name}', version: '1.2.0', summary: 'True.', config: z.object({}), create: () => () => true, ${more}
})
`

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = temporaryDirectory()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

/** What a worker makes of `plugin.path`, in this process. */
async function loadPlugins(pluginPath: readonly string[]) {
  const faults: PluginFault[] = []
  const loaded: Loaded[] = []
  const modules: string[] = []
  for (const found of discoverModules(pluginPath)) {
    const { file } = found
    if ('reason' in found) {
      faults.push(found)
      continue
    }
    try {
      for (const plugin of await importPlugins(found.url)) loaded.push({ file, plugin })
      modules.push(found.url)
    } catch (error) {
      faults.push({ file, reason: (error as Error).message })
    }
  }
  const chosen = resolveConflicts(SHIPPED, loaded)
  return { catalog: createCatalog(chosen.plugins), modules, faults: [...faults, ...chosen.faults] }
}

const namesIn = ({ catalog }: Awaited<ReturnType<typeof loadPlugins>>) =>
  catalog.list('predicate').flatMap(({ class: name }) => (name.startsWith('org.apache.') ? [] : [name]))

describe('plugin.path', () => {
  it('leads to modules, to packages, and to those in a folder', async () => {
    const manifest = (exports: unknown) => JSON.stringify({ type: 'module', exports })
    const folder = folderOf({
      'one.ts': plugin('One'),
      'one.test.ts': 'throw new Error("a test is no plugin")',
      'notes.md': '# no plugin',
      '.cache/package.json': manifest('./one.js'),
      '.cache/one.js': plugin('Hidden'),
      '.hidden.js': plugin('Hidden'),
      'two/package.json': manifest({ '.': { types: './x.d.ts', browser: './web.js', node: './lib/two.js' } }),
      'two/lib/two.js': plugin('Two'),
      'three/package.json': JSON.stringify({ type: 'module', main: 'three.mjs' }),
      'three/three.mjs': plugin('Three'),
      'no-package/four.js': plugin('Four'),
    })
    const loaded = await loadPlugins([folder])
    expect(loaded.faults).toEqual([])
    expect(namesIn(loaded)).toEqual(['One', 'Three', 'Two'])
    expect(namesIn(await loadPlugins([join(folder, 'two'), join(folder, 'no-package/four.js')]))).toEqual([
      'Four',
      'Two',
    ])
  })

  it('leads to what npm installed there, if it says that it is a plugin', async () => {
    const installed = (keywords: readonly string[]) =>
      JSON.stringify({ type: 'module', exports: './index.js', keywords })
    const folder = folderOf({
      'package.json': JSON.stringify({ private: true, dependencies: {} }),
      'node_modules/@acme/five/package.json': installed(['weir-plugin']),
      'node_modules/@acme/five/index.js': plugin('Five'),
      'node_modules/left-pad/package.json': installed([]),
      'node_modules/left-pad/index.js': 'throw new Error("no plugin")',
    })
    const loaded = await loadPlugins([folder])
    expect([namesIn(loaded), loaded.faults]).toEqual([['Five'], []])
  })

  it('tells what is broken by file and reason, and loads the rest', async () => {
    const folder = folderOf({
      'a-syntax.js': 'export const = 1',
      'b-throws.js': 'throw new Error("no licence")',
      'c-imports.js': "import 'not-installed-anywhere'",
      'd-nothing.js': 'export const x = 1',
      'e-kind.js': "export const x = { kind: 'gadget', class: 'Gadget' }",
      'f-member.js': "export const x = { kind: 'source', class: 'Source', version: '1', summary: 's' }",
      'g-config.js': "export const x = { kind: 'sink', class: 'Sink', version: '1', summary: 's', start() {} }",
      'h/package.json': 'not json',
      'i-good.ts': plugin('Good'),
    })
    const loaded = await loadPlugins([folder, '/no/such/place', join(folder, 'h/package.json')])
    expect(namesIn(loaded)).toEqual(['Good'])
    const reasons = Object.fromEntries(
      loaded.faults.map(({ file, reason }) => [file.replace(`${folder}/`, ''), reason]),
    )
    expect(reasons).toEqual({
      'a-syntax.js': expect.stringMatching(/expected|Unexpected/i),
      'b-throws.js': 'no licence',
      'c-imports.js': expect.stringContaining("'not-installed-anywhere'"),
      'd-nothing.js': expect.stringContaining('exports no plugin'),
      'e-kind.js': "Gadget is of no known kind: 'gadget'",
      'f-member.js': 'Source has no function poll',
      'g-config.js': 'Sink has no config: z.object({}) says that it has no keys',
      'h/package.json': 'expected .ts, .js, .mjs, .jar or .zip',
      '/no/such/place': 'there is nothing here',
    })
  })

  it('brings plugins that answer to short names as the original’s do', async () => {
    const folder = folderOf({
      'sink.js': `import { defineSink, z } from 'weir/sdk'
export const plugins = [defineSink({
  class: 'com.acme.ParcelSinkConnector', version: '2', summary: 'Sends.', config: z.object({}), start: () => ({ put() {} }),
})]`,
    })
    const { catalog } = await loadPlugins([folder])
    const names = ['com.acme.ParcelSinkConnector', 'ParcelSinkConnector', 'ParcelSink']
    expect(names.map((name) => catalog.find('sink', name)?.class)).toEqual(names.map(() => names[0]))
  })

  it('finds the newest of several versions, or the one that is required, and lets nobody take a name that is taken', async () => {
    const versioned = (version: string) => plugin('Again').replace('1.2.0', version)
    const folder = folderOf({
      'again-9.js': versioned('1.9.0'),
      'again-10.js': versioned('1.10.0'),
      'thief.js': plugin('Thief', "aliases: ['RecordIsTombstone']"),
    })
    const { catalog, faults } = await loadPlugins([folder])
    expect(catalog.find('predicate', 'Again')?.version).toBe('1.10.0')
    expect(catalog.find('predicate', 'Thief')).toBeUndefined()
    expect(catalog.find('predicate', 'Again', '[1.0,1.10)')?.version).toBe('1.9.0')
    expect(catalog.versionsOf('predicate', 'Again')).toEqual(['1.9.0', '1.10.0'])
    expect(faults.map(({ reason }) => reason)).toEqual([
      'Thief answers to a name of RecordIsTombstone, which was here before',
    ])
  })

  it('is loaded again from its modules, as a thread does', async () => {
    const { modules } = await loadPlugins([folderOf({ 'one.js': plugin('One'), 'two.js': 'broken' })])
    expect(modules).toHaveLength(1)
    expect((await loadModules(modules)).find('predicate', 'One')?.version).toBe('1.2.0')
  })
})
