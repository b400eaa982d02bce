import type { FormatType } from '../../formats/format.ts'
import type { SchemaReference } from '../../formats/references.ts'
import { guidOf, type SchemaContent } from '../model/schema.ts'
import { IntegerMap } from './integer-map.ts'
import type { RecordedContent } from './registry-record.ts'
import { SchemaTexts, type StoredText } from './schema-texts.ts'

type Details = Pick<SchemaContent, 'references' | 'metadata' | 'ruleSet'>

const GUID_LENGTH = 36
const HYPHEN = 45
/** The values of hexadecimal digits by character code, and -1. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code)))
const NO_REFERENCES: readonly SchemaReference[] = Object.freeze([])
const NO_DETAILS: Details = Object.freeze({ references: NO_REFERENCES, metadata: undefined, ruleSet: undefined })
const NONE = -1

/**
 * The contents of all versions, each once, in arrays by row. A row exists as long as a version uses it. The arrays have
 * a fifth of the size of objects. Types are stored with the versions: contents of different types can have the same GUID.
 */
export class SchemaContents {
  readonly #texts: SchemaTexts
  #guids = new Int32Array(4 * 16)
  #starts = new Int32Array(16)
  #lengths = new Int32Array(16)
  /** The next row whose GUID has the same key in `#rows`. */
  #next = new Int32Array(16)
  #uses = new Int32Array(16)
  /** 1 if the row has a GUID, by which it is found. */
  #isIndexed = new Uint8Array(16)
  readonly #blocks: (StoredText['block'] | undefined)[] = []
  /** Only of contents that have any. */
  readonly #details = new Map<number, Details>()
  /** The first row by the first bits of the GUID. */
  readonly #rows = new IntegerMap()
  /** Rows by GUIDs that are no UUIDs. Any text can be the GUID in a record. */
  readonly #otherRows = new Map<string, number>()
  readonly #otherGuids = new Map<number, string>()
  /** The GUID that was parsed last. */
  readonly #parsed = new Int32Array(4)
  readonly #free: number[] = []

  /** `textsMax`: maximum number of texts that are cached uncompressed. */
  constructor(textsMax: number) {
    this.#texts = new SchemaTexts(textsMax)
  }

  rowOf(guid: string): number | undefined {
    if (!this.#parseGuid(guid)) return this.#otherRows.get(guid)
    const parsed = this.#parsed
    let row = this.#rows.get(keyOf(parsed, 0)) ?? NONE
    while (row !== NONE && !this.#hasGuid(row, parsed)) row = this.#next[row]!
    return row === NONE ? undefined : row
  }

  /** Returns the row of the content, which is added if there is none. The row has one use more. */
  acquire(content: SchemaContent): number {
    const row = this.rowOf(content.guid) ?? this.#addIndexed(content)
    this.#uses[row]! += 1
    return row
  }

  /** Adds a content that consists of a text. The row has one use, and has no GUID before `index`. */
  addUnindexed(content: RecordedContent): number {
    const row = this.#add(content)
    this.#isIndexed[row] = 0
    this.#uses[row] = 1
    return row
  }

  /** Computes the GUID of a row. Returns the row of the content: an older one if there is one, which has one use more. */
  index(row: number): number {
    const guid = this.#computeGuid(row)
    const older = this.rowOf(guid)
    if (older === undefined) {
      this.#addGuid(row, guid)
      return row
    }
    this.#uses[older]! += 1
    this.release(row)
    return older
  }

  /** Ends one use of the row. */
  release(row: number): void {
    this.#uses[row]! -= 1
    if (this.#uses[row]! > 0) return
    if (this.#isIndexed[row] === 1) this.#removeGuid(row)
    this.#blocks[row] = undefined
    this.#details.delete(row)
    this.#free.push(row)
  }

  /** The content, which remains readable after its row is released. Its text is decompressed when it is read. */
  get(row: number, type: FormatType): SchemaContent {
    const texts = this.#texts
    const stored = this.#storedText(row)
    const { references, metadata, ruleSet } = this.#details.get(row) ?? NO_DETAILS
    return {
      guid: this.#isIndexed[row] === 1 ? this.#guidOf(row) : this.#computeGuid(row),
      type,
      get text() {
        return texts.read(stored)
      },
      references,
      metadata,
      ruleSet,
    }
  }

  references(row: number): readonly SchemaReference[] {
    return this.#details.get(row)?.references ?? NO_REFERENCES
  }

  /** Contents with the same GUID are identical, so that most texts are not read. */
  hasText(row: number, { guid, text }: SchemaContent): boolean {
    return (
      this.#lengths[row] === text.length &&
      (this.rowOf(guid) === row || this.#texts.read(this.#storedText(row)) === text)
    )
  }

  #storedText(row: number): StoredText {
    return { block: this.#blocks[row]!, start: this.#starts[row]!, length: this.#lengths[row]! }
  }

  #addIndexed(content: SchemaContent): number {
    const row = this.#add(content)
    this.#addGuid(row, content.guid)
    return row
  }

  #add({ text, references, metadata, ruleSet }: RecordedContent): number {
    const row = this.#free.pop() ?? this.#blocks.length
    if (row >= this.#uses.length) this.#grow()
    const { block, start, length } = this.#texts.add(text)
    this.#blocks[row] = block
    this.#starts[row] = start
    this.#lengths[row] = length
    if (references.length !== 0 || metadata || ruleSet) this.#details.set(row, { references, metadata, ruleSet })
    return row
  }

  #grow(): void {
    this.#guids = doubled(this.#guids)
    this.#starts = doubled(this.#starts)
    this.#lengths = doubled(this.#lengths)
    this.#next = doubled(this.#next)
    this.#uses = doubled(this.#uses)
    this.#isIndexed = doubled(this.#isIndexed)
  }

  // ── GUIDs ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  #addGuid(row: number, guid: string): void {
    this.#isIndexed[row] = 1
    if (!this.#parseGuid(guid)) {
      this.#otherRows.set(guid, row)
      this.#otherGuids.set(row, guid)
      return
    }
    this.#guids.set(this.#parsed, 4 * row)
    const key = keyOf(this.#parsed, 0)
    this.#next[row] = this.#rows.get(key) ?? NONE
    this.#rows.set(key, row)
  }

  #removeGuid(row: number): void {
    const other = this.#otherGuids.get(row)
    if (other !== undefined) {
      this.#otherGuids.delete(row)
      this.#otherRows.delete(other)
      return
    }
    const key = keyOf(this.#guids, 4 * row)
    const next = this.#next[row]!
    let before = this.#rows.get(key)!
    if (before !== row) {
      while (this.#next[before] !== row) before = this.#next[before]!
      this.#next[before] = next
    } else if (next === NONE) this.#rows.delete(key)
    else this.#rows.set(key, next)
  }

  #hasGuid(row: number, parts: Int32Array): boolean {
    const guids = this.#guids
    const at = 4 * row
    return (
      guids[at] === parts[0] && guids[at + 1] === parts[1] && guids[at + 2] === parts[2] && guids[at + 3] === parts[3]
    )
  }

  /** The GUID of a content that consists of a text. */
  #computeGuid(row: number): string {
    return guidOf({ ...NO_DETAILS, text: this.#texts.readOnce(this.#storedText(row)) })
  }

  #guidOf(row: number): string {
    const other = this.#otherGuids.get(row)
    if (other !== undefined) return other
    const part = (at: number) => (this.#guids[4 * row + at]! >>> 0).toString(16).padStart(8, '0')
    const [second, third] = [part(1), part(2)]
    return [part(0), second.slice(0, 4), second.slice(4), third.slice(0, 4), third.slice(4) + part(3)].join('-')
  }

  /** Writes the GUID to `#parsed`. Returns false if it is not a UUID in lower case. */
  #parseGuid(guid: string): boolean {
    if (guid.length !== GUID_LENGTH) return false
    let digits = 0
    for (let at = 0; at < GUID_LENGTH; at++) {
      const code = guid.charCodeAt(at)
      if (at === 8 || at === 13 || at === 18 || at === 23) {
        if (code !== HYPHEN) return false
        continue
      }
      const digit = DIGITS[code] ?? -1
      if (digit < 0) return false
      this.#parsed[digits >> 3] = (this.#parsed[digits >> 3]! << 4) | digit
      digits += 1
    }
    return true
  }
}

/** The first 53 bits of the GUID at an index. */
function keyOf(guids: Int32Array, at: number): number {
  return (guids[at]! >>> 0) * 2 ** 21 + (guids[at + 1]! >>> 11)
}

/** Returns an array of twice the length, with the same elements at its start. */
export function doubled<Elements extends Int32Array | Float64Array | Uint8Array>(elements: Elements): Elements {
  const larger = new (elements.constructor as new (length: number) => Elements)(2 * elements.length)
  larger.set(elements)
  return larger
}
