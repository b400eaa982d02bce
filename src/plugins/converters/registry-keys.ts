import { sslFields } from '../../java-compat/connector-tls.ts'
import { field, type z } from '../../sdk/index.ts'
import { strategyField } from './subject-name-strategy-key.ts'

/** Notes on the reference page of all converters that use a registry. */
export const REGISTRY_NOTES = `
The registry is accessed as by Confluent's client: over TLS with certificates in PEM or PKCS#12 (for a JKS store, the error describes how to
convert it), with Basic credentials or a bearer token. Failed requests are retried together with the record, within \`errors.retry.timeout\`;
\`max.retries\` and \`retries.*\` have no effect. Not supported: \`proxy.*\`, \`request.header.*\`, \`use.latest.with.metadata\`,
\`context.name.strategy\`, OAuth tokens, and rules of data contracts.

A record is rejected if its schema has more than 100,000 fields, where a type counts at each place that uses it.
`

/** Schema ids are written as a prefix of the data. Confluent's option to write them to headers is not supported. */
const ID_CLASSES = {
  serializer: ['io.confluent.kafka.serializers.schema.id.PrefixSchemaIdSerializer'],
  deserializer: [
    'io.confluent.kafka.serializers.schema.id.DualSchemaIdDeserializer',
    'io.confluent.kafka.serializers.schema.id.PrefixSchemaIdDeserializer',
  ],
} as const

function idClassField(of: 'key' | 'value', direction: keyof typeof ID_CLASSES) {
  const classes: readonly [string, ...string[]] = ID_CLASSES[direction]
  return field
    .className({
      doc: `Location of the schema id of ${of}s. Only a prefix of the data is supported.`,
      recommended: classes,
    })
    .refine((name) => classes.includes(name), `expected ${classes.join(' or ')}: ids in headers are not supported`)
    .default(classes[0])
}

/** Configuration keys shared by all converters that use a registry. */
export const registryFields = {
  'schema.registry.url': field
    .list({
      reaches: 'url',
      doc: 'URLs of the schema registry, http://host:port, separated by commas. A URL is used when those before it do not respond.',
      importance: 'HIGH',
    })
    .refine((urls) => urls.length > 0 && urls.every((url) => URL.canParse(url)), 'expected http://host:port'),
  'auto.register.schemas': field
    .boolean({ doc: 'Whether to register a schema that the subject does not contain.', importance: 'MEDIUM' })
    .default(true),
  'use.latest.version': field
    .boolean({
      doc: 'Whether to write with the latest schema of the subject. Requires auto.register.schemas=false.',
      importance: 'LOW',
    })
    .default(false),
  'latest.compatibility.strict': field
    .boolean({
      doc: 'With use.latest.version: whether to reject records whose schema is incompatible with the latest one.',
      importance: 'LOW',
    })
    .default(true),
  'use.schema.id': field
    .int({
      doc: 'Id of the schema to write with. Requires auto.register.schemas=false. -1: disabled.',
      importance: 'LOW',
      min: -1,
    })
    .default(-1),
  'id.compatibility.strict': field
    .boolean({
      doc: 'With use.schema.id: whether to reject records whose schema is incompatible with that schema.',
      importance: 'LOW',
    })
    .default(true),
  'normalize.schemas': field
    .boolean({ doc: 'Whether the registry normalizes schemas before it compares them.', importance: 'LOW' })
    .default(false),
  'key.subject.name.strategy': strategyField('key'),
  'value.subject.name.strategy': strategyField('value'),
  'key.schema.id.serializer': idClassField('key', 'serializer'),
  'value.schema.id.serializer': idClassField('value', 'serializer'),
  'key.schema.id.deserializer': idClassField('key', 'deserializer'),
  'value.schema.id.deserializer': idClassField('value', 'deserializer'),
  'basic.auth.credentials.source': field
    .oneOf(['URL', 'USER_INFO'], {
      doc: 'Source of the credentials for HTTP Basic authentication: the URL, or basic.auth.user.info.',
    })
    .default('URL'),
  'basic.auth.user.info': field
    .password({ doc: 'Credentials as user:password, for basic.auth.credentials.source=USER_INFO.' })
    .optional(),
  'schema.registry.basic.auth.user.info': field
    .password({ doc: 'Deprecated name of basic.auth.user.info.', importance: 'LOW' })
    .optional(),
  'bearer.auth.credentials.source': field
    .oneOf(['STATIC_TOKEN'], {
      doc: 'Source of the bearer token: bearer.auth.token. A bearer token takes precedence over Basic authentication.',
    })
    .optional(),
  'bearer.auth.token': field.password({ doc: 'Token for bearer.auth.credentials.source=STATIC_TOKEN.' }).optional(),
  ...sslFields('schema.registry.'),
  'schema.registry.ssl.endpoint.identification.algorithm': field
    .oneOf(['https', ''], {
      doc: 'Whether the host name of the registry must match its certificate: https to verify it, empty to accept any host name.',
      importance: 'LOW',
    })
    .default('https'),
  'http.read.timeout.ms': field
    .int({ doc: 'Timeout of a request including the complete response, in ms.', importance: 'LOW', min: 1 })
    .default(60_000),
  'schemas.cache.config': field
    .int({ doc: 'Maximum number of cached schemas.', importance: 'LOW', min: 1 })
    .default(1000),
} as const

export type ConverterRegistrySettings = z.infer<z.ZodObject<typeof registryFields>>
