import fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }

const codePoint = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((at) => String.fromCodePoint(at < SURROGATES.first ? at : at + SURROGATES.count))

/** Texts that often cause errors, such as names of JavaScript properties. */
const NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf', 'length', 'name', 'key', '$ref']

/** Any text without lone surrogates. fast-check's unit `binary` builds a table of all 1.1 million code points. */
export function arbitraryText({ maxLength = 10 }: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  const text = fc.array(codePoint, { maxLength }).map((characters) => characters.join(''))
  const short = NAMES.filter((name) => name.length <= maxLength)
  return fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: fc.constantFrom(...short) })
}
