import { crc32 as nativeCrc32, crc32c as nativeCrc32c } from '@node-rs/crc32'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BYTES_WITHOUT_NATIVE_MAX, createChecksums } from '../../../src/broker/record-batch/checksums.ts'

const DIGITS = Buffer.from('123456789')
const NEVER = () => {
  throw new Error('native code was loaded')
}

function counting() {
  let loads = 0
  const checksums = createChecksums(() => {
    loads += 1
    return { crc32: nativeCrc32, crc32c: nativeCrc32c }
  })
  return { ...checksums, loads: () => loads }
}

describe('checksums without native code', () => {
  it('equal the published check values', () => {
    const { crc32, crc32c } = createChecksums(NEVER)
    expect(crc32c(DIGITS)).toBe(0xe3069283)
    expect(crc32(DIGITS)).toBe(0xcbf43926)
    expect(crc32c(Buffer.alloc(0))).toBe(0)
  })

  it('equal those of native code', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(200), (bytes, at) => {
        const { crc32, crc32c } = createChecksums(NEVER)
        expect(crc32c(bytes)).toBe(nativeCrc32c(bytes))
        expect(crc32(bytes.subarray(at), crc32(bytes.subarray(0, at)))).toBe(nativeCrc32(bytes))
      }),
    )
  })
})

it('native code is loaded once, when more bytes than those of an idle program were processed', () => {
  const { crc32c, loads } = counting()
  for (let bytes = 0; bytes < BYTES_WITHOUT_NATIVE_MAX; bytes += 1024) crc32c(Buffer.alloc(1024))
  expect(loads()).toBe(0)
  expect(crc32c(DIGITS)).toBe(0xe3069283)
  expect(crc32c(DIGITS)).toBe(0xe3069283)
  expect(loads()).toBe(1)
})

it('native code is loaded at once for a large batch', () => {
  const { crc32, crc32c, loads } = counting()
  crc32c(Buffer.alloc(BYTES_WITHOUT_NATIVE_MAX + 1))
  expect(loads()).toBe(1)
  expect(crc32(DIGITS)).toBe(0xcbf43926)
})
