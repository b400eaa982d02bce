import type { Format, FormatType } from '../../formats/format.ts'
import { invalidSchema } from './registry-error.ts'

/** In the order the original lists them. */
export const SCHEMA_TYPES: readonly FormatType[] = ['JSON', 'PROTOBUF', 'AVRO']

const LOADERS: Readonly<Record<FormatType, () => Promise<Format>>> = {
  AVRO: async () => (await import('../../formats/avro/avro.ts')).avroFormat,
  JSON: async () => (await import('../../formats/json/json.ts')).jsonFormat,
  PROTOBUF: async () => (await import('../../formats/protobuf/protobuf.ts')).protobufFormat,
}

/** The schema languages. The code of one is loaded when its first schema comes: most registries see only one of them. */
export class Formats {
  readonly #loaded = new Map<FormatType, Format>()

  /** Has to be awaited before a schema of this type is parsed. Rejects with `invalid_schema` for a type there is not. */
  async load(type: FormatType): Promise<void> {
    if (this.#loaded.has(type)) return
    if (!SCHEMA_TYPES.includes(type)) throw invalidSchema(`Invalid schema type ${type}`)
    this.#loaded.set(type, await LOADERS[type]())
  }

  get(type: FormatType): Format {
    const format = this.#loaded.get(type)
    if (!format) throw new Error(`the format ${type} was not loaded before it was needed`)
    return format
  }
}
