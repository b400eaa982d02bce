import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Loaded, type PluginFault, resolveConflicts } from '../../src/plugins/conflict-resolution.ts'
import { discoverModules } from '../../src/plugins/discover-modules.ts'
import { importPlugins } from '../../src/plugins/import-plugins.ts'
import { loadModules } from '../../src/plugins/load-modules.ts'
import { createCatalog } from '../../src/plugins/plugin-catalog.ts'
import { shippedPlugins } from '../../src/plugins/shipped-plugins.ts'
import { SHIPPED } from '../support/shipped-plugins.ts'
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

/** Loads `plugin.path` like a worker, in this process. */
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
  it('can contain modules, packages, and directories of them', async () => {
    const manifest = (exports: unknown) => JSON.stringify({ type: 'module', exports })
    const folder = folderOf({
      'one.ts': plugin('One'),
      'one.test.ts': 'throw new Error("a test is not a plugin")',
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

  it('includes npm packages with the keyword weir-plugin', async () => {
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

  it('reports broken modules by file and reason, and loads the others', async () => {
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
      'e-kind.js': "Gadget has an unknown kind: 'gadget'",
      'f-member.js': 'Source has no function poll',
      'g-config.js': 'Sink has no config: set it to z.object({}) if there are no configuration keys',
      'h/package.json': 'expected .ts, .js, .mjs, .jar or .zip',
      '/no/such/place': 'no such file or directory',
    })
  })

  it('provides plugins by the short names of their class, like Kafka Connect', async () => {
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

  it('uses the newest of several versions, or the one that is required, and the first of several plugins with the same name', async () => {
    const versioned = (version: string) => plugin('Versioned').replace('1.2.0', version)
    const folder = folderOf({
      'versioned-9.js': versioned('1.9.0'),
      'versioned-10.js': versioned('1.10.0'),
      'duplicate.js': plugin('Duplicate', "aliases: ['RecordIsTombstone']"),
    })
    const { catalog, faults } = await loadPlugins([folder])
    expect(catalog.find('predicate', 'Versioned')?.version).toBe('1.10.0')
    expect(catalog.find('predicate', 'Duplicate')).toBeUndefined()
    expect(catalog.find('predicate', 'Versioned', '[1.0,1.10)')?.version).toBe('1.9.0')
    expect(catalog.versionsOf('predicate', 'Versioned')).toEqual(['1.9.0', '1.10.0'])
    expect(faults.map(({ reason }) => reason)).toEqual([
      'Duplicate has a name of RecordIsTombstone, which was loaded before',
    ])
  })

  it('can be loaded from the module URLs, as in a thread', async () => {
    const { modules } = await loadPlugins([folderOf({ 'one.js': plugin('One'), 'two.js': 'broken' })])
    expect(modules).toHaveLength(1)
    expect((await loadModules(await shippedPlugins(), modules)).find('predicate', 'One')?.version).toBe('1.2.0')
  })
})
