import type { Format, FormatType } from './format.ts'

/** In the order of Confluent's registry. */
export const SCHEMA_TYPES: readonly FormatType[] = ['JSON', 'PROTOBUF', 'AVRO']

const LOADERS: Readonly<Record<FormatType, () => Promise<Format>>> = {
  AVRO: async () => (await import('./avro/avro-format.ts')).avroFormat,
  JSON: async () => (await import('./json/json-schema-format.ts')).jsonFormat,
  PROTOBUF: async () => (await import('./protobuf/protobuf-format.ts')).protobufFormat,
}

/** Loads the code of a schema type. Most programs need that of one type only. */
export function loadFormat(type: FormatType): Promise<Format> {
  return LOADERS[type]()
}
