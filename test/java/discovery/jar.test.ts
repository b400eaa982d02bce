import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Jar } from '../../../src/java/discovery/jar.ts'
import { jarOf } from '../../support/jars.ts'
import { propertyRuns } from '../../support/property-seed.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const MEBIBYTE = 1_048_576

describe('a jar', () => {
  it('is read entry by entry', async () => {
    const big = Buffer.alloc(300_000, 'abc')
    const jar = await opened(jarOf([...texts('a', 'b/c'), ['big', big]]))
    expect([...jar.entries.keys()]).toEqual(['a', 'b/c', 'big'])
    expect((await jar.read(jar.entries.get('b/c')!, 100)).toString()).toBe('text of b/c')
    expect((await jar.read(jar.entries.get('big')!, MEBIBYTE)).equals(big)).toBe(true)
  })

  it('takes the first of several entries with the same name, as the class loader does', async () => {
    const jar = await opened(
      jarOf([
        ['a', Buffer.from('first')],
        ['a', Buffer.from('second')],
      ]),
    )
    expect((await jar.read(jar.entries.get('a')!, 100)).toString()).toBe('first')
  })

  it.each([
    ['empty', Buffer.alloc(0), 'it is empty'],
    ['something else', Buffer.from('#!/bin/sh\n'), /central directory/],
    ['truncated', jarOf(texts('a', 'b')).subarray(0, 60), /central directory/],
  ])('that is %s is refused', async (_, bytes, message) => {
    await expect(opened(bytes)).rejects.toThrow(message)
  })

  it('refuses an entry that is larger than the limit, and one that lies about its size', async () => {
    const bytes = jarOf([['a', Buffer.alloc(MEBIBYTE)]])
    const jar = await opened(bytes)
    await expect(jar.read(jar.entries.get('a')!, 1_000)).rejects.toThrow(
      'its entry a has 1048576 bytes, more than 1000',
    )
    const lying = Buffer.from(bytes)
    lying.writeUInt32LE(10, lying.indexOf('PK\x01\x02') + 24)
    const liar = await opened(lying)
    await expect(liar.read(liar.entries.get('a')!, MEBIBYTE)).rejects.toThrow('its entry a is damaged')
  })

  it('refuses a zip bomb of many entries', async () => {
    const content = Buffer.alloc(MEBIBYTE)
    const bomb = Array.from({ length: 18 }, (_, index) => [`${index}`, content] as const)
    const jar = await opened(jarOf(bomb))
    const reads = async () => {
      for (const entry of jar.entries.values()) await jar.read(entry, MEBIBYTE)
    }
    await expect(reads()).rejects.toThrow(`its classes have more than ${16 * MEBIBYTE} bytes`)
  })

  it('with random damage is read or refused with a sentence, never with wrong content', async () => {
    const bytes = jarOf(texts('a', 'b', 'c'))
    const damage = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 255 }))
    await fc.assert(
      fc.asyncProperty(damage, async ([at, value]) => {
        const copy = Buffer.from(bytes)
        copy[at] = value
        try {
          const jar = await opened(copy)
          for (const [name, entry] of jar.entries) {
            const content = (await jar.read(entry, 1_000)).toString()
            if (['a', 'b', 'c'].includes(name)) expect(content).toMatch(/^text of [abc]$/)
          }
        } catch (error) {
          expect(error).toBeInstanceOf(Error)
          expect((error as Error).name).not.toBe('AssertionError')
        }
      }),
      { numRuns: propertyRuns(60) },
    )
  })
})

function texts(...names: readonly string[]): readonly (readonly [string, Buffer])[] {
  return names.map((name) => [name, Buffer.from(`text of ${name}`)])
}

async function opened(bytes: Buffer): Promise<Jar> {
  const file = join(directory(), 'a.jar')
  writeFileSync(file, bytes)
  return Jar.open(file)
}

let last = ''
function directory(): string {
  try {
    last = temporaryDirectory()
  } catch {
    // Within a property, the directory of the test is used again.
  }
  return last
}
