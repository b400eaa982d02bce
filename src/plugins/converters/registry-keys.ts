import { sslFields } from '../../java-compat/ssl-fields.ts'
import { field, type z } from '../../sdk/index.ts'
import { strategyField } from './subject.ts'

/** What `notes` of converters with a registry say of it. */
export const REGISTRY_NOTES = `
The registry is reached as Confluent's client reaches it: over TLS with certificates in PEM or PKCS#12 (of a JKS store the error
says how it is converted), with BASIC credentials or a bearer token. Requests that fail are tried again with the record, as
\`errors.retry.timeout\` says: \`max.retries\` and \`retries.*\` have no use. Not taken are \`proxy.*\`, \`request.header.*\`,
\`use.latest.with.metadata\`, \`context.name.strategy\`, tokens by OAuth, and rules of data contracts.
`

/** Ids in front of the data. Confluent's converter can put them into headers instead, where we would not find them. */
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
    .className({ doc: `Where the id of a ${of}'s schema stands: in front of the data.`, recommended: classes })
    .refine((name) => classes.includes(name), `expected ${classes.join(' or ')}: ids in headers are not supported`)
    .default(classes[0])
}

/** The keys by which all converters with a registry reach it. */
export const registryFields = {
  'schema.registry.url': field
    .list({
      reaches: 'url',
      doc: 'Where the schema registry answers: http://host:port. Of several, one is asked when those before it do not answer.',
      importance: 'HIGH',
    })
    .refine((urls) => urls.length > 0 && urls.every((url) => URL.canParse(url)), 'expected http://host:port'),
  'auto.register.schemas': field
    .boolean({ doc: 'Register schemas that the subject does not have yet.', importance: 'MEDIUM' })
    .default(true),
  'use.latest.version': field
    .boolean({
      doc: "Write with the subject's latest schema; only where auto.register.schemas is false.",
      importance: 'LOW',
    })
    .default(false),
  'latest.compatibility.strict': field
    .boolean({
      doc: 'With use.latest.version: refuse records whose schema the latest one cannot stand for.',
      importance: 'LOW',
    })
    .default(true),
  'use.schema.id': field
    .int({
      doc: 'Write with the schema of this id; only where auto.register.schemas is false. -1: none.',
      importance: 'LOW',
      min: -1,
    })
    .default(-1),
  'id.compatibility.strict': field
    .boolean({
      doc: 'With use.schema.id: refuse records whose schema that one cannot stand for.',
      importance: 'LOW',
    })
    .default(true),
  'normalize.schemas': field
    .boolean({ doc: 'Let the registry bring schemas into their normal form first.', importance: 'LOW' })
    .default(false),
  'key.subject.name.strategy': strategyField('key'),
  'value.subject.name.strategy': strategyField('value'),
  'key.schema.id.serializer': idClassField('key', 'serializer'),
  'value.schema.id.serializer': idClassField('value', 'serializer'),
  'key.schema.id.deserializer': idClassField('key', 'deserializer'),
  'value.schema.id.deserializer': idClassField('value', 'deserializer'),
  'basic.auth.credentials.source': field
    .oneOf(['URL', 'USER_INFO'], { doc: 'Where BASIC credentials stand: in the URL or in basic.auth.user.info.' })
    .default('URL'),
  'basic.auth.user.info': field.password({ doc: 'user:password, with USER_INFO.' }).optional(),
  'schema.registry.basic.auth.user.info': field
    .password({ doc: 'The same, by an older name.', importance: 'LOW' })
    .optional(),
  'bearer.auth.credentials.source': field
    .oneOf(['STATIC_TOKEN'], {
      doc: 'Where a bearer token stands: in bearer.auth.token. It goes before BASIC credentials.',
    })
    .optional(),
  'bearer.auth.token': field.password({ doc: 'The token, with STATIC_TOKEN.' }).optional(),
  ...sslFields('schema.registry.'),
  'schema.registry.ssl.endpoint.identification.algorithm': field
    .oneOf(['https', ''], {
      doc: "Whether the registry's certificate has to be one of its host: https, or empty for any host.",
      importance: 'LOW',
    })
    .default('https'),
  'http.read.timeout.ms': field
    .int({ doc: 'How long a request may take until its whole answer is there, in ms.', importance: 'LOW', min: 1 })
    .default(60_000),
  'schemas.cache.config': field
    .int({ doc: 'How many schemas are remembered.', importance: 'LOW', min: 1 })
    .default(1000),
} as const

export type ConverterRegistrySettings = z.infer<z.ZodObject<typeof registryFields>>
