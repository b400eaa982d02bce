import { describe, expect, it } from 'vitest'
import { resolveConflicts } from '../../src/plugins/conflict-resolution.ts'
import { loadModules } from '../../src/plugins/load-modules.ts'
import { createCatalog, type NamedPlugin } from '../../src/plugins/plugin-catalog.ts'
import { shippedPlugins } from '../../src/plugins/shipped-plugins.ts'

const JAVA = 'org.apache.kafka.connect.file.FileStreamSourceConnector'
const shipped = [source('FileStreamSource', '0.1.0', JAVA), source('Datagen', '0.1.0')]

describe('a Java plugin with the name of a shipped one', () => {
  const { plugins, faults } = resolveConflicts(shipped, [
    { file: '/plugins/file', plugin: source(JAVA, '4.3.1'), isJava: true },
  ])
  const catalog = createCatalog(plugins)

  it('is found by that name, and by the short names of its class', () => {
    const names = [JAVA, 'FileStreamSourceConnector']
    expect(names.map((name) => catalog.find('source', name)?.version)).toEqual(['4.3.1', '4.3.1'])
    expect(faults).toEqual([])
  })

  it('is listed with its location and the plugin that it replaces, which keeps its own name', () => {
    expect(catalog.list()).toEqual([
      { class: 'Datagen', type: 'source', version: '0.1.0' },
      { class: 'FileStreamSource', type: 'source', version: '0.1.0' },
      { class: JAVA, type: 'source', version: '4.3.1', location: '/plugins/file', replaces: 'FileStreamSource' },
    ])
    expect(catalog.find('source', 'FileStreamSource')?.version).toBe('0.1.0')
  })

  it('replaces it in several versions', () => {
    const versions = ['4.3.1', '4.4.0'].map((version) => ({
      file: `/plugins/${version}`,
      plugin: source(JAVA, version),
      isJava: true,
    }))
    const found = createCatalog(resolveConflicts(shipped, versions).plugins)
    expect(found.versionsOf('source', JAVA)).toEqual(['4.3.1', '4.4.0'])
    expect(found.find('source', JAVA, '[4.3,4.4)')).toMatchObject({ location: '/plugins/4.3.1' })
  })

  it('replaces it whole if the names are the same', () => {
    const same = { file: '/plugins/own', plugin: source('Datagen', '9'), isJava: true }
    expect(createCatalog(resolveConflicts(shipped, [same]).plugins).versionsOf('source', 'Datagen')).toEqual(['9'])
  })
})

describe('another plugin with the name of a shipped one', () => {
  it('is a fault', () => {
    const { plugins, faults } = resolveConflicts(shipped, [{ file: 'thief.js', plugin: source(JAVA, '9') }])
    expect(plugins).toEqual(shipped)
    expect(faults).toEqual([
      { file: 'thief.js', reason: `${JAVA} has a name of FileStreamSource, which was loaded before` },
    ])
  })
})

describe('the same version of a class in two places', () => {
  it('is taken from the first one', () => {
    const copies = ['/a', '/b'].map((file) => ({ file, plugin: source('org.example.S', '1'), isJava: true }))
    const { plugins, faults } = resolveConflicts(shipped, copies)
    expect(plugins.at(-1)).toMatchObject({ location: '/a' })
    const reason = 'org.example.S 1 is in /a, too, and that one is used'
    expect(faults).toEqual([{ file: '/b', reason, isWarning: true }])
  })
})

describe("a jar with a copy of Kafka's own transforms", () => {
  it('does not replace the shipped ones', () => {
    const name = 'org.apache.kafka.connect.transforms.Filter'
    const transform = (own: string, ...aliases: readonly string[]) => ({
      ...source(own, '1', ...aliases),
      kind: 'transformation' as const,
    })
    const copy = { file: '/plugins/own', plugin: transform(name), isJava: true }
    const { plugins, faults } = resolveConflicts([transform('Filter', name)], [copy])
    expect([plugins.map((plugin) => plugin.class), faults]).toEqual([['Filter'], []])
  })

  it('may have the same version as another location, because each task uses its own', () => {
    const copies = ['/a', '/b'].map((file) => ({
      file,
      plugin: { ...source('org.example.T', '1'), kind: 'transformation' as const },
      isJava: true,
    }))
    expect(resolveConflicts<NamedPlugin>(shipped, copies).faults).toEqual([])
  })
})

describe('a thread that runs tasks', () => {
  it('finds the shipped plugins by all their names when nothing is installed', async () => {
    expect((await loadModules(await shippedPlugins(), [])).find('source', JAVA)?.class).toBe('FileStreamSource')
  })
})

function source(name: string, version: string, ...aliases: readonly string[]): NamedPlugin & { kind: 'source' } {
  return { kind: 'source', class: name, version, aliases }
}
