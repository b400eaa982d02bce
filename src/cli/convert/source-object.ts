import type { DocumentPath } from '../../common/document-path.ts'
import type { ConversionReport } from './conversion-report.ts'
import type { SourceDocument } from './source-document.ts'

type Fields = Readonly<Record<string, unknown>>

/** A value of the input that only the program that the input was written for can compute, such as `var.topic`. */
export class UnevaluatedExpression {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * A map of the input that records which of its fields were read. `reportUnread` reports all others, so that a field
 * which no converter knows is never dropped silently.
 */
export class SourceObject {
  readonly document: SourceDocument
  readonly path: DocumentPath
  readonly #fields: Fields
  readonly #report: ConversionReport
  readonly #read = new Set<string>()
  readonly #children: SourceObject[] = []

  constructor(document: SourceDocument, path: DocumentPath, fields: Fields, report: ConversionReport) {
    this.document = document
    this.path = path
    this.#fields = fields
    this.#report = report
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#fields, name) && this.#fields[name] !== null && this.#fields[name] !== undefined
  }

  /** The value as it is; undefined if it is absent or null. */
  value(name: string): unknown {
    this.#read.add(name)
    return this.has(name) ? this.#fields[name] : undefined
  }

  /** A text; numbers and booleans are accepted, because YAML reads an unquoted name such as `2024` as a number. */
  text(name: string): string | undefined {
    const value = this.value(name)
    const text = textOfScalar(value)
    if (value !== undefined && text === undefined) this.#reportType(name, value, 'a text')
    return text
  }

  requiredText(name: string): string | undefined {
    const text = this.text(name)
    if (text === undefined && !this.has(name)) this.fail([name], 'is missing, so the resource cannot be converted')
    return text === '' ? undefined : text
  }

  integer(name: string): number | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value.trim()) ? Number(value) : value
    if (typeof number === 'number' && Number.isSafeInteger(number)) return number
    this.#reportType(name, value, 'a whole number')
    return undefined
  }

  flag(name: string): boolean | undefined {
    const value = this.value(name)
    if (value === undefined || typeof value === 'boolean') return value
    if (value === 'true' || value === 'false') return value === 'true'
    this.#reportType(name, value, 'true or false')
    return undefined
  }

  /** The meaning of a word, regardless of upper and lower case. Another word is reported. */
  choice<T extends string>(name: string, meanings: Readonly<Record<string, T>>): T | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const found = Object.entries(meanings).find(([word]) => word.toLowerCase() === text.toLowerCase())?.[1]
    if (found === undefined) {
      this.lose([name], `'${text}' has no counterpart: expected one of ${Object.keys(meanings).join(', ')}`)
    }
    return found
  }

  /** A map whose fields are read in turn. */
  object(name: string): SourceObject | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    if (isFields(value)) return this.#child([name], value)
    // A block of Terraform that may be repeated is a list, also when it occurs once.
    if (Array.isArray(value) && value.length === 1 && isFields(value[0])) return this.#child([name, 0], value[0])
    if (!(Array.isArray(value) && value.length === 0)) this.#reportType(name, value, 'a map')
    return undefined
  }

  requiredObject(name: string): SourceObject | undefined {
    const found = this.object(name)
    if (found === undefined && !this.has(name)) this.fail([name], 'is missing, so the resource cannot be converted')
    return found
  }

  /** The maps of a list. */
  objects(name: string): readonly SourceObject[] {
    const value = this.value(name)
    if (value === undefined) return []
    if (isFields(value)) return [this.#child([name], value)]
    if (!Array.isArray(value)) {
      this.#reportType(name, value, 'a list')
      return []
    }
    return value.flatMap((item: unknown, at) => {
      if (isFields(item)) return [this.#child([name, at], item)]
      this.lose([name, at], 'is not a map')
      return []
    })
  }

  /** All fields of a map of texts, as strings. A value that is not a scalar is reported. */
  texts(name: string): ReadonlyMap<string, string> {
    return this.object(name)?.ownTexts() ?? new Map()
  }

  /** The fields of this map as strings. A value that is not a scalar is reported. */
  ownTexts(): ReadonlyMap<string, string> {
    const found = new Map<string, string>()
    for (const name of Object.keys(this.#fields)) {
      if (!this.has(name)) {
        this.lose([name], 'has no value: set one, or remove the key')
        this.ignore(name)
        continue
      }
      const text = this.text(name)
      if (text !== undefined) found.set(name, text)
    }
    return found
  }

  names(): readonly string[] {
    return Object.keys(this.#fields)
  }

  /** Marks fields as read whose loss changes nothing, such as those that a server sets. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#read.add(name)
  }

  /** Reports a field, if it is present, with what to do instead. */
  loseIfPresent(name: string, advice: string): void {
    this.#read.add(name)
    if (this.has(name) && !isEmpty(this.#fields[name])) this.lose([name], advice)
  }

  lose(path: DocumentPath, message: string): void {
    this.#report.add('lost', this.document, [...this.path, ...path], message)
  }

  fail(path: DocumentPath, message: string): void {
    this.#report.add('failed', this.document, [...this.path, ...path], message)
  }

  note(path: DocumentPath, message: string): void {
    this.#report.add('note', this.document, [...this.path, ...path], message)
  }

  /** Reports each field that was not read, here and in the maps that were. */
  reportUnread(): void {
    for (const name of Object.keys(this.#fields)) {
      if (!this.#read.has(name) && this.has(name) && !isEmpty(this.#fields[name])) {
        this.lose([name], 'has no counterpart in Weir: check whether it is still needed')
      }
    }
    for (const child of this.#children) child.reportUnread()
  }

  #child(path: DocumentPath, fields: Fields): SourceObject {
    const child = new SourceObject(this.document, [...this.path, ...path], fields, this.#report)
    this.#children.push(child)
    return child
  }

  #reportType(name: string, value: unknown, expected: string): void {
    if (value instanceof UnevaluatedExpression) {
      const remedy = 'convert the output of terraform show -json, which has all values, or set it in the manifest'
      this.lose([name], `the value of ${value.text} is not known here: ${remedy}`)
    } else this.lose([name], `has a value that cannot be converted: expected ${expected}`)
  }
}

export function isFields(value: unknown): value is Fields {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof UnevaluatedExpression)
  )
}

/** Whether a value contains no information. Terraform's state has such values for all arguments that are absent. */
function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}

function textOfScalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
    ? String(value)
    : undefined
}
