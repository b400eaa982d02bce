const POLYNOMIAL = 0x82f63b78

/** Eight tables, so that eight bytes are taken at a time. */
const TABLES = buildTables()
const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES as [
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
]

function buildTables(): readonly Uint32Array[] {
  const first = new Uint32Array(256).map((_, byte) => {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0)
    return crc
  })
  const tables = [first]
  for (let at = 1; at < 8; at++) {
    const before = tables[at - 1]!
    tables.push(before.map((crc) => (crc >>> 8) ^ first[crc & 0xff]!))
  }
  return tables
}

/** CRC-32C (Castagnoli), the checksum of record batches, over `bytes` from `start` on. */
export function crc32c(bytes: Uint8Array, start = 0): number {
  const end = bytes.length
  let crc = 0xffffffff
  let at = start
  for (const last = end - 8; at <= last; at += 8) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    crc =
      T7[crc & 0xff]! ^
      T6[(crc >>> 8) & 0xff]! ^
      T5[(crc >>> 16) & 0xff]! ^
      T4[crc >>> 24]! ^
      T3[bytes[at + 4]!]! ^
      T2[bytes[at + 5]!]! ^
      T1[bytes[at + 6]!]! ^
      T0[bytes[at + 7]!]!
  }
  for (; at < end; at++) crc = T0[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8)
  return ~crc >>> 0
}
