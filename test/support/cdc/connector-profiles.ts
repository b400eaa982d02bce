/** A configuration in which two connectors are compared. */
export type ConnectorProfile = { readonly name: string; readonly config: Readonly<Record<string, string>> }

/** Together they use the values of each key that changes events. */
export const PROFILES: readonly ConnectorProfile[] = [
  { name: 'defaults', config: {} },
  {
    name: 'texts',
    config: {
      'decimal.handling.mode': 'string',
      'time.precision.mode': 'isostring',
      'interval.handling.mode': 'string',
      'hstore.handling.mode': 'map',
      'binary.handling.mode': 'base64',
      'provide.transaction.metadata': 'true',
      'skipped.operations': 'none',
      'tombstones.on.delete': 'false',
      'column.propagate.source.type': '.*',
      'include.unknown.datatypes': 'true',
      'publish.via.partition.root': 'true',
      'unavailable.value.placeholder': 'not sent',
      'topic.delimiter': '_',
    },
  },
  {
    name: 'filtered',
    config: {
      'publication.autocreate.mode': 'filtered',
      // Debezium keeps the old name of a table that moves to a schema that is left out.
      'schema.include.list': 'public,moved',
      'table.exclude.list': 'public.toast_full,public.unlogged',
      'column.exclude.list': 'public[.]defaults[.](doc|raw|total),public[.]accounts[.]note',
      'decimal.handling.mode': 'double',
      'time.precision.mode': 'connect',
      'binary.handling.mode': 'hex',
      'money.fraction.digits': '4',
      'datatype.propagate.source.type': '.+[.](numeric|varchar|timestamp)',
      'schema.name.adjustment.mode': 'avro',
      'field.name.adjustment.mode': 'avro_unicode',
      'column.mask.with.12.chars': 'public[.]composite[.]note',
      'column.truncate.to.20.chars': 'public[.]items[.]payload,public[.]texts[.].*',
      'column.mask.hash.v2.SHA-256.with.salt.pepper': 'public[.]items[.]label',
      'column.mask.hash.SHA-512.with.salt.pepper': 'public[.]keyless_full[.]word',
      'message.key.columns': 'public.journal:at;(.*).keyless:id;public.accounts:id,note',
      'message.prefix.include.list': 'orders,random',
      'skipped.operations': 'd',
    },
  },
  {
    name: 'microseconds',
    config: {
      'time.precision.mode': 'adaptive_time_microseconds',
      'binary.handling.mode': 'base64-url-safe',
      'hstore.handling.mode': 'json',
      'snapshot.mode': 'no_data',
      'message.prefix.exclude.list': 'random',
      'extended.headers.enabled': 'false',
    },
  },
]
