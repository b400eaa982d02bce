import { BOOLEAN, BYTES } from '../../../../../sdk/index.ts'
import { named, type ValueType } from '../../../cdc/values/value-type.ts'

const LENGTH_UNLIMITED = 2_147_483_647

/** `bit(1)` is a boolean; other bit strings are bytes. */
export function bitsType(length: number): ValueType {
  if (length === 1) return { schema: BOOLEAN, decode: (text) => text === '1' }
  const parameters = { length: String(length < 0 ? LENGTH_UNLIMITED : length) }
  return named('io.debezium.data.Bits', { schema: BYTES, decode: bitsFromText }, parameters)
}

/** The last digit is the lowest bit of the first byte. Zero bytes at the end are omitted, as in Java's `BitSet`. */
function bitsFromText(text: string): Buffer {
  const bytes = Buffer.alloc(Math.ceil(text.length / 8))
  for (let bit = 0; bit < text.length; bit += 1) {
    if (text[text.length - 1 - bit] === '1') bytes[bit >> 3]! |= 1 << (bit & 7)
  }
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end -= 1
  return bytes.subarray(0, end)
}
