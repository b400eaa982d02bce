import { createRequire } from 'node:module'
import { crc32 as crc32OfNode } from 'node:zlib'

type Native = { crc32(bytes: Uint8Array, start?: number): number; crc32c(bytes: Uint8Array): number }

/** Bytes of batches that a thread processes before it loads native code, which is more than the start of 50 idle tasks needs. */
export const BYTES_WITHOUT_NATIVE_MAX = 128 * 1024
/** The polynomial of CRC-32C, with its bits reversed. */
const POLYNOMIAL = 0x82f63b78

/** `crc32c` is the checksum of record batches, `crc32` that of the embedded broker's pages. */
export const { crc32, crc32c } = createChecksums(() => createRequire(import.meta.url)('@node-rs/crc32') as Native)

/**
 * Native code computes CRC-32C a hundred times faster than code that V8 has not optimized, but to load it takes 8 ms of CPU time
 * and 3 MB in each process, most of it a huge page of its memory allocator. So it is loaded when there are records to process.
 */
export function createChecksums(loadNative: () => Native): Native {
  const table = createTable()
  let bytesLeft = BYTES_WITHOUT_NATIVE_MAX
  let native: Native | undefined
  return {
    crc32: (bytes, start) => (native ? native.crc32(bytes, start) : crc32OfNode(bytes, start)),
    crc32c(bytes) {
      if (native) return native.crc32c(bytes)
      bytesLeft -= bytes.length
      if (bytesLeft >= 0) return checksumOf(bytes, table)
      native = loadNative()
      return native.crc32c(bytes)
    },
  }
}

function createTable(): Int32Array {
  return Int32Array.from({ length: 256 }, (_, byte) => {
    let remainder = byte
    for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? POLYNOMIAL : 0)
    return remainder
  })
}

function checksumOf(bytes: Uint8Array, table: Int32Array): number {
  let sum = -1
  for (let at = 0; at < bytes.length; at++) sum = (sum >>> 8) ^ (table[(sum ^ (bytes[at] as number)) & 0xff] as number)
  return ~sum >>> 0
}
