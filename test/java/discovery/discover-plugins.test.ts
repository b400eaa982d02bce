import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type DiscoveryMode,
  discoverJavaPlugins,
  manifestWarning,
} from '../../../src/java/discovery/discover-plugins.ts'
import { DiscoveryCache } from '../../../src/java/discovery/discovery-cache.ts'
import { unreadable } from '../../../src/java/discovery/location-files.ts'
import { classEntry, classFile, jarOf, manifestEntry, type TestClass } from '../../support/jars.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const SOURCE = 'org.apache.kafka.connect.source.SourceConnector'
const TRANSFORM = 'org.apache.kafka.connect.transforms.Transformation'

const source: TestClass = { name: 'org.example.Source', extends: SOURCE }

describe('the discovery of Java plugins', () => {
  it('finds classes by manifests and by what they extend, across the jars of a location', async () => {
    const root = written({
      'a/base.jar': jarOf([classEntry({ name: 'org.example.Base', extends: SOURCE, isAbstract: true })]),
      'a/plugin.jar': jarOf([
        manifestEntry(TRANSFORM, 'org.example.Upper$Key', 'org.example.Upper$Key # twice'),
        classEntry({ name: 'org.example.Upper$Key', implements: [TRANSFORM], javaVersion: 21 }),
        classEntry({ name: 'org.example.Derived', extends: 'org.example.Base' }),
        classEntry({ name: 'org.example.Plain' }),
        classEntry({ name: 'org.example.Json', extends: 'org.apache.kafka.connect.json.JsonConverter' }),
        ['META-INF/versions/21/org/example/Derived.class', Buffer.from('newer')],
        ['module-info.class', Buffer.from('module')],
      ]),
      // Another location: its classes do not extend those of the first one.
      'b/plugin.jar': jarOf([classEntry({ name: 'org.other.Derived', extends: 'org.example.Base' })]),
    })
    const { locations, faults } = await discover(root)
    expect(faults).toEqual([])
    expect(locations.map(({ location, classes }) => ({ path: location.path, classes }))).toEqual([
      {
        path: join(root, 'a'),
        classes: [
          { kind: 'source', class: 'org.example.Derived', hasManifest: false, javaVersion: 17 },
          { kind: 'converter', class: 'org.example.Json', hasManifest: false, javaVersion: 17 },
          { kind: 'header_converter', class: 'org.example.Json', hasManifest: false, javaVersion: 17 },
          { kind: 'transformation', class: 'org.example.Upper$Key', hasManifest: true, javaVersion: 21 },
        ],
      },
    ])
  })

  it('finds classes in a directory of class files', async () => {
    const root = written({ 'own/org/example/Source.class': classFile(source) })
    const { locations } = await discover(root)
    expect(locations[0]?.classes.map((one) => one.class)).toEqual(['org.example.Source'])
  })

  it('follows plugin.discovery', async () => {
    const root = written({
      'a.jar': jarOf([
        manifestEntry(SOURCE, 'org.example.Source'),
        classEntry(source),
        classEntry({ name: 'org.example.Scanned', extends: SOURCE }),
      ]),
    })
    const outcome = async (mode: DiscoveryMode) => {
      const found = await discover(root, mode)
      return { names: found.locations[0]?.classes.map((one) => one.class), warning: manifestWarning(mode, found) }
    }
    const both = ['org.example.Scanned', 'org.example.Source']
    const sentence = `org.example.Scanned (source) in ${root}/a.jar`
    expect(await outcome('service_load')).toEqual({ names: ['org.example.Source'], warning: undefined })
    expect(await outcome('only_scan')).toEqual({ names: both, warning: undefined })
    expect(await outcome('hybrid_warn')).toEqual({ names: both, warning: expect.stringContaining(sentence) })
    await expect(outcome('hybrid_fail')).rejects.toThrow(sentence)
  })

  it('recommends service_load when every plugin has a manifest', async () => {
    const root = written({ 'a.jar': jarOf([manifestEntry(SOURCE, source.name), classEntry(source)]) })
    expect(manifestWarning('hybrid_fail', await discover(root))).toContain('service_load starts faster')
  })

  it('reports each thing that is wrong in one sentence that names the file, and finds the rest', async () => {
    const jar = jarOf([manifestEntry(SOURCE, source.name, 'org.example.Gone'), classEntry(source)])
    const root = written({
      'copies/a.jar': jar,
      'copies/b.jar': jarOf([classEntry(source)]),
      'damaged/damaged.jar': jarOf([['org/example/Source.class', Buffer.from('not a class')]]),
      'damaged/good.jar': jarOf([classEntry({ name: 'org.example.Good', extends: SOURCE })]),
      'not.jar': Buffer.from('<html>not found</html>'),
      'truncated.jar': jar.subarray(0, jar.length - 30),
    })
    const { locations, faults } = await discover(root)
    expect(locations.flatMap(({ classes }) => classes.map((one) => one.class))).toEqual([
      'org.example.Source',
      'org.example.Good',
    ])
    const file = (name: string) => join(root, name)
    expect(faults).toEqual([
      {
        file: file('copies/a.jar'),
        reason: `META-INF/services/${SOURCE} names org.example.Gone, but no such class is in ${file('copies')}`,
        isWarning: true,
      },
      {
        file: file('copies/b.jar'),
        reason: `org.example.Source is also in ${file('copies/a.jar')}, and that copy is used`,
        isWarning: true,
      },
      {
        file: file('damaged/damaged.jar'),
        reason: 'its class org.example.Source is damaged: it is not a class file',
      },
      { file: file('not.jar'), reason: expect.stringContaining('it is not a jar, or damaged: ') },
      { file: file('truncated.jar'), reason: expect.stringContaining('it is not a jar, or damaged: ') },
    ])
  })

  it('leaves the classes of Kafka Connect’s worker to Weir', async () => {
    const converter = 'org.apache.kafka.connect.converters.ByteArrayConverter'
    const type = 'org.apache.kafka.connect.storage.Converter'
    const root = written({
      'mirror/connect-runtime.jar': jarOf([
        manifestEntry(type, converter),
        classEntry({ name: converter, implements: [type] }),
      ]),
      'mirror/connect-mirror.jar': jarOf([classEntry({ name: 'org.apache.kafka.connect.mirror.M', extends: SOURCE })]),
    })
    const { locations, faults } = await discover(root)
    expect(locations[0]?.classes.map((one) => one.class)).toEqual(['org.apache.kafka.connect.mirror.M'])
    expect(faults).toEqual([])
  })

  it('ends for classes that extend each other', async () => {
    const root = written({
      'a.jar': jarOf([
        classEntry({ name: 'A', extends: 'B', implements: [SOURCE] }),
        classEntry({ name: 'B', extends: 'A' }),
        classEntry({ name: 'constructor', extends: '__proto__' }),
      ]),
    })
    const { locations } = await discover(root)
    expect(locations[0]?.classes.map((one) => one.class)).toEqual(['A', 'B'])
  })

  it('says that a file cannot be read', () => {
    const error = Object.assign(new Error('EACCES: permission denied, open x'), { code: 'EACCES', syscall: 'open' })
    expect(unreadable(error)).toBe('it cannot be read: permission denied')
  })
})

describe('the cache of discovery', () => {
  it('is used for the same files, and not for changed ones', async () => {
    const root = written({ 'a.jar': jarOf([classEntry(source)]) })
    const directory = join(temporaryDirectory(), 'cache')
    const first = await discover(root, 'hybrid_warn', directory)
    const [name = ''] = readdirSync(directory)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    expect(name).toContain(first.locations[0]!.hash)
    await new DiscoveryCache(directory).write(name, { classes: [], faults: [{ file: 'f', reason: 'cached' }] })
    expect((await discover(root, 'hybrid_warn', directory)).faults).toEqual([{ file: 'f', reason: 'cached' }])
    expect((await discover(root, 'service_load', directory)).faults).toEqual([])
    writeFileSync(join(root, 'a.jar'), jarOf([classEntry({ ...source, name: 'org.example.Other' })]))
    const changed = await discover(root, 'hybrid_warn', directory)
    expect(changed.locations[0]?.classes.map((one) => one.class)).toEqual(['org.example.Other'])
  })

  it('gives the same result as the discovery', async () => {
    const root = written({
      'a.jar': jarOf([manifestEntry(SOURCE, 'org.apache.kafka.X', source.name), classEntry(source)]),
    })
    const directory = join(temporaryDirectory(), 'cache')
    expect(await discover(root, 'only_scan', directory)).toEqual(await discover(root, 'only_scan', directory))
  })

  it.each([
    ['truncated', (file: string) => truncateSync(file, statSync(file).size - 1)],
    ['empty', (file: string) => truncateSync(file)],
    ['changed', (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('Source', 'Sourse'))],
    ['of another type', (file: string) => new DiscoveryCache(dirname(file)).write(basename(file), { classes: [1] })],
    ['removed', (file: string) => rmSync(file)],
  ])('is not used when it is %s', async (_, damage) => {
    const root = written({ 'a.jar': jarOf([classEntry(source)]) })
    const directory = join(temporaryDirectory(), 'cache')
    const first = await discover(root, 'hybrid_warn', directory)
    await damage(join(directory, readdirSync(directory)[0]!))
    expect(await discover(root, 'hybrid_warn', directory)).toEqual(first)
  })

  it('may be shared by workers that start at the same time', async () => {
    const root = written({ 'a.jar': jarOf([classEntry(source)]) })
    const directory = join(temporaryDirectory(), 'cache')
    const results = await Promise.all(Array.from({ length: 5 }, () => discover(root, 'hybrid_warn', directory)))
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1)
    expect(readdirSync(directory)).toEqual([expect.stringContaining('.json')])
    expect(await discover(root, 'hybrid_warn', directory)).toEqual(results[0])
  })

  it('is neither read nor written in a directory to which others can write', async () => {
    const shared = temporaryDirectory()
    chmodSync(shared, 0o777)
    const linked = join(temporaryDirectory(), 'link')
    symlinkSync(temporaryDirectory(), linked)
    for (const directory of [shared, linked]) {
      writeFileSync(join(directory, 'x'), '1')
      const cache = new DiscoveryCache(directory)
      await cache.write('y', 2)
      expect(await cache.read('x')).toBeUndefined()
      expect(readdirSync(directory)).toEqual(['x'])
    }
  })
})

function discover(root: string, mode: DiscoveryMode = 'hybrid_warn', cache = join(temporaryDirectory(), 'cache')) {
  return discoverJavaPlugins([root], mode, new DiscoveryCache(cache))
}

function written(files: Readonly<Record<string, Buffer>>): string {
  const root = temporaryDirectory()
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
  return root
}
