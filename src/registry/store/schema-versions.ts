import type { FormatType } from '../../formats/format.ts'
import type { SchemaVersion } from '../model/schema.ts'
import type { Subject } from '../model/subject.ts'
import type { RecordedSchema } from './registry-record.ts'
import { doubled, SchemaContents } from './schema-contents.ts'

type Extra = SchemaVersion['extra']
const NO_EXTRA: Extra = Object.freeze({})

/** How a version's only extra member `md5` is derived from its GUID. Records of Confluent's registry have it. */
const NO_MD5 = 0
const MD5_IS_GUID = 1
const MD5_IS_DIGITS = 2

/** The versions of all subjects, in arrays by row. The arrays have a fifth of the size of objects. */
export class SchemaVersions {
  readonly contents: SchemaContents
  readonly #subjects: (Subject | undefined)[] = []
  readonly #types: FormatType[] = []
  #numbers = new Float64Array(16)
  #ids = new Float64Array(16)
  #timestamps = new Float64Array(16)
  #contentRows = new Int32Array(16)
  #deleted = new Uint8Array(16)
  #md5 = new Uint8Array(16)
  /** Only of versions that have extra members other than an `md5` that is derived from the GUID. */
  readonly #extras = new Map<number, Extra>()
  readonly #free: number[] = []

  /** `textsMax`: maximum number of texts that are cached uncompressed. */
  constructor(textsMax: number) {
    this.contents = new SchemaContents(textsMax)
  }

  /** Adds a version. `contentRow` is a row of `contents`, acquired for it. */
  add(stored: RecordedSchema, contentRow: number, timestampMs: number): number {
    const row = this.#free.pop() ?? this.#subjects.length
    if (row >= this.#ids.length) this.#grow()
    this.#subjects[row] = stored.subject
    this.#types[row] = stored.content.type
    this.#numbers[row] = stored.version
    this.#ids[row] = stored.id
    this.#timestamps[row] = timestampMs
    this.#contentRows[row] = contentRow
    this.#deleted[row] = Number(stored.deleted)
    this.#setExtra(row, stored)
    return row
  }

  /** Removes a version and releases its content. */
  remove(row: number): void {
    this.contents.release(this.#contentRows[row]!)
    this.#subjects[row] = undefined
    this.#extras.delete(row)
    this.#free.push(row)
  }

  /** The version as it is now. Later changes and its removal do not change what was returned. */
  get(row: number): SchemaVersion {
    const content = this.contents.get(this.#contentRows[row]!, this.#types[row]!)
    return {
      subject: this.subject(row),
      version: this.#numbers[row]!,
      id: this.#ids[row]!,
      content,
      deleted: this.isDeleted(row),
      timestampMs: this.#timestamps[row]!,
      extra: this.#extras.get(row) ?? extraOf(this.#md5[row]!, content.guid),
    }
  }

  subject(row: number): Subject {
    return this.#subjects[row]!
  }

  number(row: number): number {
    return this.#numbers[row]!
  }

  id(row: number): number {
    return this.#ids[row]!
  }

  contentRow(row: number): number {
    return this.#contentRows[row]!
  }

  /** Replaces the row of the content by another one with the same content, acquired for this version. */
  setContentRow(row: number, contentRow: number): void {
    this.#contentRows[row] = contentRow
  }

  isDeleted(row: number): boolean {
    return this.#deleted[row] === 1
  }

  markDeleted(row: number): void {
    this.#deleted[row] = 1
  }

  #setExtra(row: number, { extra, content: { guid } }: RecordedSchema): void {
    const members = Object.keys(extra)
    const { md5 } = extra
    const isOnlyMd5 = members.length === 1 && guid !== undefined
    const isGuid = isOnlyMd5 && md5 === guid
    const isDigits = isOnlyMd5 && md5 === digitsOf(guid)
    this.#md5[row] = isGuid ? MD5_IS_GUID : isDigits ? MD5_IS_DIGITS : NO_MD5
    if (members.length > 0 && !isGuid && !isDigits) this.#extras.set(row, extra)
  }

  #grow(): void {
    this.#numbers = doubled(this.#numbers)
    this.#ids = doubled(this.#ids)
    this.#timestamps = doubled(this.#timestamps)
    this.#contentRows = doubled(this.#contentRows)
    this.#deleted = doubled(this.#deleted)
    this.#md5 = doubled(this.#md5)
  }
}

function extraOf(md5: number, guid: string): Extra {
  return md5 === NO_MD5 ? NO_EXTRA : { md5: md5 === MD5_IS_GUID ? guid : digitsOf(guid) }
}

function digitsOf(guid: string): string {
  return guid.replaceAll('-', '')
}
