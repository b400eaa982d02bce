import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { brokerSettings, environmentSettings, registrySettings, settingsSpec } from '../../src/registry/settings.ts'
import { settingsPage } from '../support/settings-page.ts'

// `npx vitest run -u test/registry/settings.test.ts` writes the page anew.
const PAGE = join(import.meta.dirname, '../../docs/config/registry.md')
const INTRO = `\`weir registry --config FILE --set KEY=VALUE\`; in the environment \`SCHEMA_REGISTRY_\` and the key in upper case with \`_\`
for each dot (\`KARAPACE_\` and its own names work too). What comes later wins: file, environment, \`--set\`. A setting nobody
knows is warned of; a wrong value ends the start with one sentence that says where it stands and what would be right.
All that begins with \`brokerstore.\` and is not named here goes to the Kafka client, with Java's names (\`brokerstore.sasl.mechanism\`,
\`brokerstore.ssl.truststore.location\`), and \`brokerstore.topic.config.*\` to the topic when it is made.`

const read = (pairs: Readonly<Record<string, string>>, source = 'f.properties') =>
  registrySettings(Object.entries(pairs).map(([key, value], at) => ({ key, value, source: `${source}:${at + 1}` })))

/** Section E of the contract, word for word where a key stands alone; families by one of them. */
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
  it('stand on their page as they are defined', async () => {
    await expect(settingsPage('Settings of the schema registry', INTRO, settingsSpec)).toMatchFileSnapshot(PAGE)
  })

  it.each(KEYS)('are known by the name %s', (key) => {
    let heard: string
    try {
      heard = read({ [key]: '' }).warnings.join()
    } catch (error) {
      heard = (error as Error).message
    }
    expect(heard).not.toContain('has no setting')
  })

  it('warn of what nobody knows, and of what changes nothing and why', () => {
    const { warnings } = read({ 'kafkastore.checkpoint.dir': 'x', 'brokerstore.topic': 't', lisseners: 'l' })
    expect(warnings).toEqual([
      "f.properties:1: 'brokerstore.checkpoint.dir' has no effect: nothing is kept outside the topic",
      "f.properties:3: the schema registry has no setting 'lisseners': it is ignored",
    ])
  })

  it.each([
    [{}, ['http://0.0.0.0:8081']],
    [{ port: '9' }, ['http://0.0.0.0:9']],
    [{ port: '9', listeners: 'http://h:1' }, ['http://h:1']],
  ])('listen, told %j, on %j', (pairs, listeners) => {
    expect(read(pairs as Record<string, string>).values.listeners).toEqual(listeners)
  })

  it('take the cache’s expiry in the original’s seconds', () => {
    expect(read({ 'schema.cache.expiry.secs': '7' }).values['schema.cache.expiry.ms']).toBe(7_000)
  })

  it('pass the rest of the store’s on to its client, without the prefix', () => {
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
      /^f.properties:1: metadata.encoder.secret=\[hidden\]: metadata is not encrypted/,
    ],
    [{ 'authentication.method': 'BASIC' }, 'needs weir.authentication.users.file'],
    [{ 'weir.authorization.permissions.file': 'a' }, 'weir.authorization.permissions.file needs authentication.method'],
    [{ 'ssl.client.authentication': 'REQUIRED' }, 'needs ssl.truststore.location'],
    [{ 'kafkagroup.session.timeout.ms': '100' }, 'has to be below brokergroup.session.timeout.ms=100'],
    [
      { port: 'x', 'leader.read.timeout.ms': '1 s' },
      /^f.properties:1: port=x: expected.*\nf.properties:2: leader.read.timeout.ms=1 s/,
    ],
  ])('refuse %j in one sentence', (pairs, message) => {
    expect(() => read(pairs as unknown as Record<string, string>)).toThrow(message)
  })

  it('stand in the environment as the images have it, beside what Kubernetes writes there', () => {
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
      "environment SCHEMA_REGISTRY_HEAP_OPTS: 'heap.opts' has no effect: there is no Java here",
    ])
  })
})
