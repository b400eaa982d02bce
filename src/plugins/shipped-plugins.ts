import type { Plugin } from '../sdk/index.ts'
import { datagen } from './connectors/datagen/datagen-source.ts'
import { directorySource } from './connectors/directory/directory-source.ts'
import { fileStreamSink } from './connectors/file-stream/file-stream-sink.ts'
import { fileStreamSource } from './connectors/file-stream/file-stream-source.ts'
import { aivenHttpSink } from './connectors/http-sink/aiven.ts'
import { httpSink } from './connectors/http-sink/confluent.ts'
import { confluentHttpSource } from './connectors/http-source/confluent.ts'
import { httpSource } from './connectors/http-source/http-source.ts'
import { postgresSink } from './connectors/postgres/sink/postgres-sink.ts'
import { postgresSource } from './connectors/postgres/source/postgres-source.ts'
import { webhookSource } from './connectors/webhook/webhook-source.ts'
import { avroConverter } from './converters/avro/avro-converter.ts'
import { byteArrayConverter } from './converters/byte-array.ts'
import { asHeaderConverter } from './converters/header-converter.ts'
import { jsonConverter } from './converters/json/json-converter.ts'
import { jsonSchemaConverter } from './converters/json-schema/json-schema-converter.ts'
import { protobufConverter } from './converters/protobuf/protobuf-converter.ts'
import { scalarConverters } from './converters/scalar-converters.ts'
import { simpleHeaderConverter } from './converters/simple-header/simple-header-converter.ts'
import { stringConverter } from './converters/string.ts'
import { type Catalog, createCatalog } from './plugin-catalog.ts'
import { hasHeaderKey, recordIsTombstone, topicNameMatches } from './predicates/predicates.ts'
import { directoryProvider } from './providers/directory.ts'
import { environmentProvider } from './providers/environment.ts'
import { fileProvider } from './providers/file.ts'
import { kubernetesConfigMapProvider, kubernetesSecretProvider } from './providers/kubernetes.ts'
import { cast } from './transforms/cast.ts'
import { eventRouter } from './transforms/debezium/event-router.ts'
import { extractNewRecordState } from './transforms/debezium/extract-new-record-state.ts'
import { filterByExpression } from './transforms/expression/filter.ts'
import { mapTransform } from './transforms/expression/map.ts'
import { extractField } from './transforms/extract-field.ts'
import { filter } from './transforms/filter.ts'
import { flatten } from './transforms/flatten.ts'
import { headerFrom } from './transforms/header-from.ts'
import { dropHeaders, insertHeader } from './transforms/headers.ts'
import { hoistField } from './transforms/hoist-field.ts'
import { insertField } from './transforms/insert-field.ts'
import { jsonParse, jsonStringify } from './transforms/json-text.ts'
import { maskField } from './transforms/mask-field.ts'
import { regexRouter } from './transforms/regex-router.ts'
import { replaceField } from './transforms/replace-field.ts'
import { setSchemaMetadata } from './transforms/set-schema-metadata.ts'
import { timestampConverter } from './transforms/timestamp-converter.ts'
import { timestampRouter } from './transforms/timestamp-router.ts'
import { valueToKey } from './transforms/value-to-key.ts'

/** All plugins that ship with Weir. */
export const SHIPPED: readonly Plugin[] = [
  fileStreamSource,
  fileStreamSink,
  datagen,
  directorySource,
  httpSink,
  aivenHttpSink,
  httpSource,
  confluentHttpSource,
  webhookSource,
  postgresSource,
  postgresSink,
  stringConverter,
  jsonConverter,
  avroConverter,
  jsonSchemaConverter,
  protobufConverter,
  byteArrayConverter,
  ...scalarConverters,
  simpleHeaderConverter,
  asHeaderConverter(stringConverter),
  asHeaderConverter(jsonConverter),
  asHeaderConverter(byteArrayConverter),
  ...scalarConverters.map(asHeaderConverter),
  ...cast,
  dropHeaders,
  ...extractField,
  filter,
  ...flatten,
  ...headerFrom,
  ...hoistField,
  ...insertField,
  insertHeader,
  ...maskField,
  regexRouter,
  ...replaceField,
  ...setSchemaMetadata,
  ...timestampConverter,
  timestampRouter,
  valueToKey,
  extractNewRecordState,
  eventRouter,
  ...mapTransform,
  filterByExpression,
  ...jsonParse,
  ...jsonStringify,
  hasHeaderKey,
  recordIsTombstone,
  topicNameMatches,
  fileProvider,
  directoryProvider,
  environmentProvider,
  kubernetesSecretProvider,
  kubernetesConfigMapProvider,
]

export function shippedCatalog(): Catalog {
  return createCatalog(SHIPPED)
}
