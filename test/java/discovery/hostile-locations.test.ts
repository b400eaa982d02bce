import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { discoverJavaPlugins } from '../../../src/java/discovery/discover-plugins.ts'
import { DiscoveryCache } from '../../../src/java/discovery/discovery-cache.ts'
import { discoverInThread } from '../../../src/java/discovery/discovery-thread.ts'
import { Jar } from '../../../src/java/discovery/jar.ts'
import { classEntry, jarOf } from '../../support/jars.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const GOOD = jarOf([
  classEntry({ name: 'org.example.Source', extends: 'org.apache.kafka.connect.source.SourceConnector' }),
])
/** More than the limit of a class file, which is 16 MiB. */
const LARGE_BYTES = 17 * 1_048_576

/** The reasons for each child of a plugin path, which also contains a good jar; fails if that one is not found. */
async function reasonsFor(fill: (root: string) => void): Promise<Readonly<Record<string, readonly string[]>>> {
  const root = temporaryDirectory()
  fill(root)
  writeFileSync(join(root, 'good.jar'), GOOD)
  const cache = new DiscoveryCache(join(temporaryDirectory(), 'cache'))
  const { locations, faults } = await discoverJavaPlugins([root], 'hybrid_warn', cache)
  expect(locations.map(({ location }) => location.path)).toContain(join(root, 'good.jar'))
  const reasons = Map.groupBy(faults, ({ file }) => file.slice(root.length + 1))
  return Object.fromEntries([...reasons].map(([file, all]) => [file, all.map(({ reason }) => reason)]))
}

describe('a plugin path with hostile files', () => {
  it('is read without opening pipes and devices', async () => {
    const reasons = await reasonsFor((root) => {
      for (const directory of [root, join(root, 'own')]) {
        mkdirSync(directory, { recursive: true })
        execFileSync('mkfifo', [join(directory, 'pipe.jar')])
        symlinkSync('pipe.jar', join(directory, 'linked.jar'))
        symlinkSync('/dev/zero', join(directory, 'zero.jar'))
      }
      writeFileSync(join(root, 'own/good.jar'), GOOD)
    })
    const reason = ['it is neither a file nor a directory']
    expect(reasons).toEqual({ 'linked.jar': reason, 'pipe.jar': reason, 'zero.jar': reason })
  })

  it('is read once where links lead back', async () => {
    const reasons = await reasonsFor((root) => {
      mkdirSync(join(root, 'a/b'), { recursive: true })
      symlinkSync('..', join(root, 'a/b/up'))
      symlinkSync('../../a', join(root, 'a/b/a'))
      symlinkSync('other', join(root, 'one'))
      symlinkSync('one', join(root, 'other'))
    })
    expect(reasons).toEqual({ one: ['the link leads to itself'], other: ['the link leads to itself'] })
  })

  it('gives a limited number of reports for one location', async () => {
    const reasons = await reasonsFor((root) => {
      mkdirSync(join(root, 'a'))
      for (let link = 0; link < 30; link++) symlinkSync('gone', join(root, 'a', `${link}`))
    })
    expect(Object.keys(reasons)).toHaveLength(21)
    expect(reasons['a']).toEqual(['10 more of its files cannot be read'])
  })

  it('is read without large classes', async () => {
    const claims = Buffer.from(jarOf([['org/Big.class', Buffer.from('small')]]))
    claims.writeUInt32LE(LARGE_BYTES, claims.indexOf('PK\x01\x02') + 24)
    const reasons = await reasonsFor((root) => {
      writeFileSync(join(root, 'claims.jar'), claims)
      mkdirSync(join(root, 'classes/org'), { recursive: true })
      writeFileSync(join(root, 'classes/org/Big.class'), '')
      truncateSync(join(root, 'classes/org/Big.class'), LARGE_BYTES)
    })
    expect(reasons).toEqual({
      'claims.jar': ['its entry org/Big.class has 17825792 bytes, more than 16777216'],
      classes: ['its file org/Big.class has 17825792 bytes, more than 16777216'],
    })
  })

  it('is read without jars of a million entries, and with names that lead out of the jar', async () => {
    const reasons = await reasonsFor((root) => {
      writeFileSync(join(root, 'many.jar'), withEntryCount(GOOD, 1_000_000))
      writeFileSync(join(root, 'dots.jar'), jarOf([['../../org/example/A.class', Buffer.from('x')]]))
      writeFileSync(join(root, 'absolute.jar'), jarOf([['/org/example/A.class', Buffer.from('x')]]))
    })
    expect(reasons).toEqual({
      'absolute.jar': ['it is not a jar, or damaged: absolute path: /org/example/A.class'],
      'dots.jar': ['it is not a jar, or damaged: invalid relative path: ../../org/example/A.class'],
      'many.jar': ['it has 1000000 entries, more than 200000'],
    })
  })
})

describe('a jar that became something else after it was found', () => {
  it('is not opened if it is a pipe', async () => {
    const pipe = join(temporaryDirectory(), 'a.jar')
    execFileSync('mkfifo', [pipe])
    await expect(Jar.open(pipe)).rejects.toThrow('it is not a file')
  })
})

describe('the thread that finds Java plugins', () => {
  it('finds the same as the search itself, and reports its progress', { tags: ['slow'] }, async () => {
    const root = temporaryDirectory()
    writeFileSync(join(root, 'good.jar'), GOOD)
    writeFileSync(join(root, 'bad.jar'), 'bad')
    const cacheDirectory = join(temporaryDirectory(), 'cache')
    const progress: object[] = []
    const data = { pluginPath: [root], mode: 'hybrid_warn', cacheDirectory } as const
    const found = await discoverInThread(data, (next) => progress.push(next))
    expect(found).toEqual(await discoverJavaPlugins([root], 'hybrid_warn', new DiscoveryCache(cacheDirectory)))
    expect(progress).toEqual([
      { location: join(root, 'bad.jar'), done: 0, total: 2 },
      { location: join(root, 'good.jar'), done: 1, total: 2 },
    ])
  })
})

/** Adds the end record of Zip64, whose number of entries may exceed 65,535. */
function withEntryCount(jar: Buffer, entries: number): Buffer {
  const end = Buffer.from(jar.subarray(-22))
  const record = Buffer.alloc(56)
  record.write('PK\x06\x06', 'latin1')
  record.writeBigUInt64LE(44n, 4)
  record.writeBigUInt64LE(BigInt(entries), 24)
  record.writeBigUInt64LE(BigInt(entries), 32)
  record.writeBigUInt64LE(BigInt(end.readUInt32LE(12)), 40)
  record.writeBigUInt64LE(BigInt(end.readUInt32LE(16)), 48)
  const locator = Buffer.alloc(20)
  locator.write('PK\x06\x07', 'latin1')
  locator.writeBigUInt64LE(BigInt(jar.length - 22), 8)
  locator.writeUInt32LE(1, 16)
  end.writeUInt16LE(0xffff, 8)
  end.writeUInt16LE(0xffff, 10)
  end.writeUInt32LE(0xffffffff, 16)
  return Buffer.concat([jar.subarray(0, -22), record, locator, end])
}
