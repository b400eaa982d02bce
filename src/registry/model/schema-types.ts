import type { Format, FormatType } from '../../formats/format.ts'
import { loadFormat, SCHEMA_TYPES } from '../../formats/load-format.ts'
import { invalidSchema } from './registry-error.ts'

/** The schema types. The code of a type is loaded with its first schema, because most registries use only one type. */
export class Formats {
  readonly #loaded = new Map<FormatType, Format>()

  isLoaded(type: FormatType): boolean {
    return this.#loaded.has(type)
  }

  /** Loads the code of a type. Await it before parsing a schema. Rejects with `invalid_schema` for an unknown type. */
  async load(type: FormatType): Promise<void> {
    if (this.#loaded.has(type)) return
    if (!SCHEMA_TYPES.includes(type)) throw invalidSchema(`Invalid schema type ${type}`)
    this.#loaded.set(type, await loadFormat(type))
  }

  /** The type must be loaded. */
  get(type: FormatType): Format {
    const format = this.#loaded.get(type)
    if (!format) throw new Error(`the format ${type} was not loaded before it was needed`)
    return format
  }
}
