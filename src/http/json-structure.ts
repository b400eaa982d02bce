/** As Jackson's, which both originals read with. */
const DEPTH_MAX = 1_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** By byte, outside of texts: how much deeper the text after it is. */
const DEEPER = new Int8Array(256)
/** By byte, outside of texts: 1 where a name or a value ends or begins. */
const PARTS = new Uint8Array(256)
for (const open of '[{') DEEPER[open.charCodeAt(0)] = 1
for (const close of ']}') DEEPER[close.charCodeAt(0)] = -1
for (const part of '[{,:') PARTS[part.charCodeAt(0)] = 1

/**
 * Looks at the bytes of a JSON text as they arrive, for what would make its parsing slow: nesting, and the number of
 * names and values. It does not check that the text is JSON.
 */
export class JsonStructure {
  readonly #partsMax: number
  #depth = 0
  #parts = 0
  #isInText = false
  #isEscaped = false

  constructor(partsMax: number) {
    this.#partsMax = partsMax
  }

  /** Says what is too much, if something is. */
  add(bytes: Uint8Array): string | undefined {
    let deepest = 0
    for (const byte of bytes) {
      if (this.#isInText) this.#addToText(byte)
      else if (byte === QUOTE) this.#isInText = true
      else {
        this.#depth += DEEPER[byte] ?? 0
        this.#parts += PARTS[byte] ?? 0
        deepest = Math.max(deepest, this.#depth)
      }
    }
    if (deepest > DEPTH_MAX) return `it is nested deeper than ${DEPTH_MAX}`
    return this.#parts > this.#partsMax ? `it has more than ${this.#partsMax} names and values` : undefined
  }

  #addToText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) this.#isInText = false
  }
}
