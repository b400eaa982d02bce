import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { WORKER_SETTING_MEANINGS } from '../../src/worker/setting-meanings.ts'
import { workerEnvironmentSettings, workerSettings, workerSettingsSpec } from '../../src/worker/settings.ts'
import { resolveSettings } from '../../src/worker/startup/resolve-settings.ts'
import { settingsPage } from '../support/settings-page.ts'

// `npx vitest run test/worker/settings.test.ts -u` writes the page anew.
const PAGE = join(import.meta.dirname, '../../docs/config/worker.md')
const INTRO = `\`weir worker --config FILE --set KEY=VALUE\`; in the environment \`CONNECT_\` and the key in upper case with \`_\` for each dot.
What comes later wins: file, environment, \`--set\`. A setting nobody knows is warned of; a wrong value ends the start with
one sentence that says where it stands and what would be right. Values may hold placeholders of \`config.providers\`, which
are set as in Kafka Connect: \`config.providers=file\`, \`config.providers.file.class=…\`, \`config.providers.file.param.KEY=…\`.
Settings of Kafka's clients (\`security.protocol\`, \`sasl.*\`, \`ssl.*\`) have Java's names, and \`config.storage.*\`,
\`offset.storage.*\` and \`status.storage.*\` that are not named here go to the topics when they are made.`

const read = (pairs: Readonly<Record<string, string>>) =>
  Object.entries(pairs).map(([key, value]) => ({ key, value, source: 'f' }))

describe('the settings of a worker', () => {
  it('stand on their page as they are defined', async () => {
    const described = Object.entries(workerSettingsSpec.shape.shape).map(([key, type]) => {
      return [
        key,
        (type as z.ZodType).describe(WORKER_SETTING_MEANINGS[key as keyof typeof WORKER_SETTING_MEANINGS]),
      ] as const
    })
    const spec = { ...workerSettingsSpec, shape: z.object(Object.fromEntries(described)) }
    await expect(settingsPage('Settings of the connector worker', INTRO, spec)).toMatchFileSnapshot(PAGE)
  })

  it('warn of what changes nothing, and why', () => {
    expect(workerSettings(read({ 'worker.unsync.backoff.ms': '1', 'log4j.root.loglevel': 'INFO' })).warnings).toEqual([
      "f: 'worker.unsync.backoff.ms' has no effect: a worker that lags behind stays in its group",
      "f: 'log4j.root.loglevel' has no effect: the log is JSON on standard error; PUT /admin/loggers/NAME sets its level",
    ])
  })

  it('stand in the environment as the images have them; addresses of a Service are none', () => {
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

  it('may hold placeholders, and tell what must not be told', async () => {
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
