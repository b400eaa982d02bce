import fc from 'fast-check'

/**
 * Any Unicode character except surrogates, half of them ASCII. The `binary` unit of fast-check has the same characters, but
 * builds a table of all of them first, which takes more than a second in each process.
 */
export const anyCharacter = fc.oneof(
  fc.integer({ min: 0, max: 0x7f }).map((code) => String.fromCodePoint(code)),
  fc
    .integer({ min: 0x80, max: 0x10ffff - 0x800 })
    .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800)),
)
