import { beforeEach, expect, it } from 'vitest'
import type { ConfigData } from '../../../../src/operator/cluster/cluster.ts'
import { ConfigMapCache } from '../../../../src/operator/cluster/kubernetes/config-map-cache.ts'

let stored: Map<string, string>
let reads: string[]
let cache: ConfigMapCache

beforeEach(() => {
  stored = new Map([['a', 'x'.repeat(400)]])
  reads = []
  const read = async (_: string, name: string): Promise<ConfigData | undefined> => {
    reads.push(name)
    const value = stored.get(name)
    if (value === 'unreadable') throw new Error('forbidden')
    return value === undefined ? undefined : new Map([['key', value]])
  }
  cache = new ConfigMapCache(read, 2_000)
})

const value = async (name: string) => (await cache.get('shop', name))?.get('key')

it('reads a ConfigMap once until it changes, also when it is read at the same time or does not exist', async () => {
  expect(await Promise.all([value('a'), value('a'), value('none')])).toEqual([
    'x'.repeat(400),
    'x'.repeat(400),
    undefined,
  ])
  expect([await value('a'), await value('none'), reads]).toEqual(['x'.repeat(400), undefined, ['a', 'none']])
  stored.set('a', 'y').set('none', 'now')
  cache.forget('shop', 'a')
  cache.forget('shop', 'none')
  expect([await value('a'), await value('none'), await value('a'), reads.length]).toEqual(['y', 'now', 'y', 4])
})

it('does not keep what was read before a change', async () => {
  const before = cache.get('shop', 'a')
  cache.forget('shop', 'a')
  stored.set('a', 'y')
  expect([(await before)?.get('key')?.length, await value('a'), await value('a'), reads.length]).toEqual([
    400,
    'y',
    'y',
    2,
  ])
})

it('does not keep a failure', async () => {
  stored.set('a', 'unreadable')
  await expect(value('a')).rejects.toThrow('forbidden')
  stored.set('a', 'y')
  expect(await value('a')).toBe('y')
})

it('drops those that were not used for longest, above its limit', async () => {
  for (const name of ['b', 'c', 'd']) stored.set(name, 'x'.repeat(400))
  for (const name of ['a', 'b', 'a', 'c', 'd', 'a', 'b']) await value(name)
  expect(reads).toEqual(['a', 'b', 'c', 'd', 'b'])
})
