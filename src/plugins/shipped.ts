import type { Plugin } from '../sdk/index.ts'
import { type Catalog, createCatalog } from './catalog.ts'
import { datagen } from './connectors/datagen/source.ts'
import { fileStreamSink } from './connectors/file-stream/sink.ts'
import { fileStreamSource } from './connectors/file-stream/source.ts'
import { avroConverter } from './converters/avro/converter.ts'
import { byteArrayConverter } from './converters/byte-array.ts'
import { jsonConverter } from './converters/json/converter.ts'
import { simpleHeaderConverter } from './converters/simple-header/converter.ts'
import { stringConverter } from './converters/string.ts'

/** Every plugin that comes with Weir. */
export const SHIPPED: readonly Plugin[] = [
  fileStreamSource,
  fileStreamSink,
  datagen,
  stringConverter,
  jsonConverter,
  avroConverter,
  byteArrayConverter,
  simpleHeaderConverter,
]

export function shippedCatalog(): Catalog {
  return createCatalog(SHIPPED)
}
