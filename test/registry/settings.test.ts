import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { brokerSettings, environmentSettings, registrySettings, settingsSpec } from '../../src/registry/settings.ts'
import { settingsPage } from '../support/settings-page.ts'

// `npx vitest run -u test/registry/settings.test.ts` rewrites the page.
const PAGE = join(import.meta.dirname, '../../docs/config/registry.md')
const INTRO = `\`weir registry --config FILE --set KEY=VALUE\`. An environment variable has the prefix \`SCHEMA_REGISTRY_\` and the key in
upper case with \`_\` for each dot; Karapace's variables (\`KARAPACE_\`) work too. Later sources override earlier ones: file, environment,
\`--set\`. An unknown setting causes a warning. An invalid value prevents the start; the message has its source and the expected value.
Settings with the prefix \`brokerstore.\` that are not listed here are passed to the Kafka client, with the names of the Java client
(\`brokerstore.sasl.mechanism\`, \`brokerstore.ssl.truststore.location\`). \`brokerstore.topic.config.*\` are configs of a new topic.`

const read = (pairs: Readonly<Record<string, string>>, source = 'f.properties') =>
  registrySettings(Object.entries(pairs).map(([key, value], at) => ({ key, value, source: `${source}:${at + 1}` })))

/** The settings of section E of the contract. A group of settings with a common prefix has one example. */
const KEYS = `listeners port host.name host.port schema.registry.group.id kafkastore.bootstrap.servers
kafkastore.connection.url kafkastore.topic kafkastore.topic.replication.factor kafkastore.topic.skip.validation
kafkastore.topic.config.retention.ms kafkastore.group.id kafkastore.timeout.ms kafkastore.init.timeout.ms
kafkastore.init.wait.for.reader kafkastore.write.max.retries kafkastore.checkpoint.dir kafkastore.checkpoint.version
kafkastore.update.handlers kafkastore.security.protocol kafkastore.ssl.truststore.location kafkastore.sasl.mechanism
kafkagroup.rebalance.timeout.ms kafkagroup.session.timeout.ms kafkagroup.heartbeat.interval.ms leader.eligibility
master.eligibility leader.connect.timeout.ms leader.read.timeout.ms leader.election.delay leader.election.sticky
mode.mutability associations.enable schema.compatibility.level avro.compatibility.level schema.validate.fields
schema.validate.new.schemas schema.reject.empty.subject schema.providers schema.providers.reference.versions.strict
schema.providers.json.fetch.remote.schemas schema.cache.size schema.cache.expiry.secs schema.cache.expiry.ms
schema.canonicalize.on.consume schema.search.default.limit schema.search.max.limit subject.search.default.limit
subject.search.max.limit subject.version.search.default.limit subject.version.search.max.limit
context.search.default.limit context.search.max.limit size.limit.filter.enabled
size.limit.filter.max.request.body.size enable.store.health.check metadata.encoder.secret metadata.encoder.old.secret
metadata.encoder.topic metadata.encoder.secret.strict.validation resource.extension.class
init.resource.extension.class schema.registry.resource.extension.class resource.static.locations
inter.instance.protocol schema.registry.inter.instance.protocol inter.instance.listener.name
inter.instance.headers.whitelist enable.fips enable.fips.mode authentication.method authentication.realm
authentication.roles authentication.skip.paths access.control.allow.origin access.control.allow.methods
access.control.allow.headers response.mediatype.default response.mediatype.preferred request.timeout.ms
shutdown.graceful.ms ssl.keystore.location ssl.keystore.password ssl.key.password ssl.truststore.location
ssl.truststore.password ssl.enabled.protocols ssl.client.authentication metrics.jmx.prefix metrics.tag.map debug
compression.enable websocket.path.prefix brokerstore.topic brokergroup.session.timeout.ms bootstrap_uri topic_name
group_id compatibility master_eligibility registry_authfile advertised_hostname`.split(/\s+/)

describe('the settings of a registry', () => {
  it('match the generated page docs/config/registry.md', async () => {
    await expect(settingsPage('Settings of the schema registry', INTRO, settingsSpec)).toMatchFileSnapshot(PAGE)
  })

  it.each(KEYS)('include %s without a warning about an unknown setting', (key) => {
    let message: string
    try {
      message = read({ [key]: '' }).warnings.join()
    } catch (error) {
      message = (error as Error).message
    }
    expect(message).not.toContain('has no setting')
  })

  it('cause a warning if a setting is unknown or has no effect', () => {
    const { warnings } = read({ 'kafkastore.checkpoint.dir': 'x', 'brokerstore.topic': 't', lisseners: 'l' })
    expect(warnings).toEqual([
      "f.properties:1: 'brokerstore.checkpoint.dir' has no effect: no state is stored outside the topic",
      "f.properties:3: the schema registry has no setting 'lisseners': it is ignored",
    ])
  })

  it.each([
    [{}, ['http://0.0.0.0:8081']],
    [{ port: '9' }, ['http://0.0.0.0:9']],
    [{ port: '9', listeners: 'http://h:1' }, ['http://h:1']],
  ])('with %j give the listeners %j', (pairs, listeners) => {
    expect(read(pairs as Record<string, string>).values.listeners).toEqual(listeners)
  })

  it('convert schema.cache.expiry.secs to milliseconds', () => {
    expect(read({ 'schema.cache.expiry.secs': '7' }).values['schema.cache.expiry.ms']).toBe(7_000)
  })

  it('pass unknown settings with the prefix brokerstore. to the Kafka client, without the prefix', () => {
    expect(brokerSettings(read({ 'kafkastore.sasl.mechanism': 'PLAIN', 'kafkastore.topic': 't' }))).toEqual({
      'sasl.mechanism': 'PLAIN',
    })
  })

  it.each([
    [
      { 'leader.eligibility': 'true', 'master.eligibility': 'false' },
      /'leader.eligibility' and 'master.eligibility' are names of the same setting.*differ/,
    ],
    [
      { 'kafkastore.ssl.key.password': 'hunter2', 'brokerstore.ssl.key.password': 'hunter3' },
      /^(?!.*hunter).*names of the same setting/,
    ],
    [
      { 'authentication.method': 'DIGEST' },
      'f.properties:1: authentication.method=DIGEST: expected some of NONE, BASIC, BEARER',
    ],
    [
      { 'authentication.roles': 'admin,boss' },
      /authentication.roles=admin,boss: expected \* or some of none, readonly, developer, admin/,
    ],
    [
      { 'metadata.encoder.secret': 'hunter2' },
      /^f.properties:1: metadata.encoder.secret=\[hidden\]: metadata cannot be encrypted/,
    ],
    [{ 'authentication.method': 'BASIC' }, 'requires either weir.authentication.users.file'],
    [
      { 'weir.authorization.permissions.file': 'a' },
      'weir.authorization.permissions.file requires authentication.method',
    ],
    [{ 'ssl.client.authentication': 'REQUIRED' }, 'needs ssl.truststore.location'],
    [{ 'kafkagroup.session.timeout.ms': '100' }, 'must be below brokergroup.session.timeout.ms=100'],
    [
      { port: 'x', 'leader.read.timeout.ms': '1 s' },
      /^f.properties:1: port=x: expected.*\nf.properties:2: leader.read.timeout.ms=1 s/,
    ],
  ])('reject %j with a message that names the setting', (pairs, message) => {
    expect(() => read(pairs as unknown as Record<string, string>)).toThrow(message)
  })

  it('are read from the variables of Confluent’s images, without the variables of a Kubernetes Service', () => {
    const settings = environmentSettings({
      SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS: 'PLAINTEXT://k:9092',
      SCHEMA_REGISTRY_SCHEMA_REGISTRY_GROUP_ID: 'g',
      SCHEMA_REGISTRY_HOST_NAME: 'h',
      SCHEMA_REGISTRY_HEAP_OPTS: '-Xmx1G',
      SCHEMA_REGISTRY_PORT: 'tcp://10.0.0.1:8081',
      SCHEMA_REGISTRY_PORT_8081_TCP_ADDR: '10.0.0.1',
      SCHEMA_REGISTRY_SERVICE_HOST: '10.0.0.1',
      KARAPACE_TOPIC_NAME: 't',
      PATH: '/bin',
    })
    const { values, warnings } = registrySettings(settings)
    expect(values).toMatchObject({
      'brokerstore.bootstrap.servers': 'PLAINTEXT://k:9092',
      'brokerstore.topic': 't',
      'schema.registry.group.id': 'g',
      'host.name': 'h',
    })
    expect(warnings).toEqual([
      "environment SCHEMA_REGISTRY_HEAP_OPTS: 'heap.opts' has no effect: the registry does not run on Java",
    ])
  })
})
