import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { WORKER_SETTING_DESCRIPTIONS } from '../../src/worker/setting-descriptions.ts'
import { workerEnvironmentSettings, workerSettings, workerSettingsSpec } from '../../src/worker/settings.ts'
import { resolveSettings } from '../../src/worker/startup/resolve-settings.ts'
import { settingsPage } from '../support/settings-page.ts'

// `npx vitest run test/worker/settings.test.ts -u` regenerates the page.
const PAGE = join(import.meta.dirname, '../../docs/config/worker.md')
const INTRO = `\`weir worker --config FILE --set KEY=VALUE\`. In the environment, a setting is \`CONNECT_\` and the key in upper case with \`_\` for each dot.
Precedence, from low to high: file, environment, \`--set\`. An unknown setting is logged as a warning. An invalid value ends the
program with a message that names its source and the expected value. Values may contain placeholders of \`config.providers\`, which
are configured as in Kafka Connect: \`config.providers=file\`, \`config.providers.file.class=…\`, \`config.providers.file.param.KEY=…\`.
Settings of Kafka's clients (\`security.protocol\`, \`request.timeout.ms\`, \`producer.*\` …) have Java's names: see
[their page](../client-settings.md). Keys of \`config.storage.*\`,
\`offset.storage.*\` and \`status.storage.*\` that are not listed here are settings of the topics when they are created.`

const read = (pairs: Readonly<Record<string, string>>) =>
  Object.entries(pairs).map(([key, value]) => ({ key, value, source: 'f' }))

describe('the settings of a worker', () => {
  it('are documented in docs/config/worker.md', async () => {
    const described = Object.entries(workerSettingsSpec.shape.shape).map(([key, type]) => {
      return [
        key,
        (type as z.ZodType).describe(WORKER_SETTING_DESCRIPTIONS[key as keyof typeof WORKER_SETTING_DESCRIPTIONS]),
      ] as const
    })
    const spec = { ...workerSettingsSpec, shape: z.object(Object.fromEntries(described)) }
    await expect(settingsPage('Settings of the connector worker', INTRO, spec)).toMatchFileSnapshot(PAGE)
  })

  it('create the storage topics with Kafka Connect’s numbers of replicas and partitions', () => {
    const numbers = (pairs: Readonly<Record<string, string>>) =>
      Object.entries(workerSettings(read(pairs)).values).flatMap(([key, value]) =>
        /storage\.(partitions|replication\.factor)$/.test(key) ? [value] : [],
      )
    expect(numbers({})).toEqual([3, 25, 3, 5, 3])
    const brokersDefaults = { 'offset.storage.partitions': '-1', 'status.storage.replication.factor': '-1' }
    expect(numbers(brokersDefaults)).toEqual([3, -1, 3, 5, -1])
    for (const key of ['offset.storage.partitions', 'config.storage.replication.factor']) {
      for (const value of ['0', '-2']) {
        expect(() => workerSettings(read({ [key]: value }))).toThrow(/expected a whole number from 1 to \d+, or -1 for/)
      }
    }
  })

  it('log a warning with the reason for a setting of Kafka Connect that has no effect', () => {
    expect(workerSettings(read({ 'worker.unsync.backoff.ms': '1', 'log4j.root.loglevel': 'INFO' })).warnings).toEqual([
      "f: 'worker.unsync.backoff.ms' has no effect: a worker that lags behind the config topic stays in its group",
      "f: 'log4j.root.loglevel' has no effect: logs are JSON on standard error; PUT /admin/loggers/NAME sets their level",
    ])
  })

  it('are read from CONNECT_… variables, except those that Kubernetes sets for a Service', () => {
    const environment = {
      CONNECT_GROUP_ID: 'c1',
      CONNECT_KEY_CONVERTER_SCHEMAS_ENABLE: 'false',
      CONNECT_SERVICE_HOST: '10.0.0.1',
      CONNECT_PORT: 'tcp://10.0.0.1:8083',
      CONNECT_PORT_8083_TCP: 'tcp://10.0.0.1:8083',
      OTHER_GROUP_ID: 'x',
    }
    const { values, rest, warnings } = workerSettings(workerEnvironmentSettings(environment))
    expect([values['group.id'], rest, warnings]).toEqual(['c1', { 'key.converter.schemas.enable': 'false' }, []])
  })

  it('have their placeholders resolved, and the values are listed as secrets', { tags: ['slow'] }, async () => {
    vi.stubEnv('WEIR_TEST_PASSWORD', 'hunter22')
    const settings = await resolveSettings(
      read({
        'config.providers': 'env',
        'config.providers.env.class': 'org.apache.kafka.common.config.provider.EnvVarConfigProvider',
        'sasl.jaas.config': 'user password="${env:WEIR_TEST_PASSWORD}";',
        'group.id': '${other:x}',
      }),
    )
    expect(settings.rest['sasl.jaas.config']).toBe('user password="hunter22";')
    expect(settings.values['group.id']).toBe('${other:x}')
    expect(settings.secrets).toEqual(['user password="hunter22";', 'hunter22'])
    vi.unstubAllEnvs()
  })
})
