/** The limit of Jackson, which the originals and their converters use. */
export const JSON_DEPTH_MAX = 1_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** By byte outside of strings: the change of the nesting depth. */
const DEEPER = new Int8Array(256)
/** By byte outside of strings: 1 if a name or a value starts or ends here. */
const PARTS = new Uint8Array(256)
for (const open of '[{') DEEPER[open.charCodeAt(0)] = 1
for (const close of ']}') DEEPER[close.charCodeAt(0)] = -1
for (const part of '[{,:') PARTS[part.charCodeAt(0)] = 1

/**
 * Checks the bytes of a JSON text, as they arrive, for structures that are slow to parse: deep nesting, and many names
 * and values. Does not validate the JSON.
 */
export class JsonStructure {
  readonly #partsMax: number
  #depth = 0
  #parts = 0
  #isInString = false
  #isEscaped = false

  /** Without `partsMax`, the number of names and values is not limited. */
  constructor(partsMax = Number.POSITIVE_INFINITY) {
    this.#partsMax = partsMax
  }

  /** Returns a description of the exceeded limit, if any. */
  add(bytes: Uint8Array): string | undefined {
    let deepest = 0
    for (const byte of bytes) {
      if (this.#isInString) this.#addToString(byte)
      else if (byte === QUOTE) this.#isInString = true
      else {
        this.#depth += DEEPER[byte] ?? 0
        this.#parts += PARTS[byte] ?? 0
        deepest = Math.max(deepest, this.#depth)
      }
    }
    if (deepest > JSON_DEPTH_MAX) return `it is nested deeper than ${JSON_DEPTH_MAX}`
    return this.#parts > this.#partsMax ? `it has more than ${this.#partsMax} names and values` : undefined
  }

  #addToString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) this.#isInString = false
  }
}
