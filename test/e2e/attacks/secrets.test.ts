import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { readAll } from '../../contract/broker-support.ts'
import { freePort } from '../../env/ports.ts'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'
import { spellingsOf } from './leaking-plugins.ts'

const WAIT = { everyMs: 100, timeoutMs: 120_000 }
const ROLES = ['readonly', 'developer', 'admin'] as const
const STRINGS = 'org.apache.kafka.connect.storage.StringConverter'

/** Passwords, tokens, keys and paths, with everything in them that is escaped somewhere. */
const SECRETS = Array.from({ length: 50 }, (_, n) => {
  const kinds = ['pw-%41&"q\'', 'tok+en/=', 'käy ünd ', 'C:\\new\\', '{"k":1}$'] as const
  return `${kinds[n % kinds.length]}${(n * 7_919 + 104_729).toString(36)}${n}xQ`
})
const [LITERAL, URL_LITERAL] = ['literal-pass-77', 'in-url-pass-88']

it('ten connectors that leak 50 secrets in eight encodings reveal none to any role, in no log and in no topic', async () => {
  const directory = temporaryDirectory()
  const file = join(directory, 'secrets.properties')
  const escaped = (text: string) => text.replace(/[\\:=#! ]/g, '\\$&')
  writeFileSync(file, SECRETS.map((secret, n) => `s${n}=${escaped(secret)}\\n`).join('\n'))
  const data = join(directory, 'data')
  const worker = await startWorkerProcess({
    log: ['--data', data],
    groupId: 'leaks',
    settings: {
      ...(await basicAuthSettings({ readonly: 'readonly', developer: 'developer', admin: 'admin' })),
      'plugin.path': join(import.meta.dirname, 'leaking-plugins.ts'),
      'connector.urls.denied': 'metadata',
      'connector.paths.allowed': '/',
      'config.providers': 'file',
      'config.providers.file.class': 'org.apache.kafka.common.config.provider.FileConfigProvider',
      'value.converter': STRINGS,
      'key.converter': STRINGS,
      'offset.flush.interval.ms': '100',
    },
  })
  onTestFinished(() => worker.kill())
  const call = (line: string, body?: unknown, user: string = 'admin') => callAs(user, worker.url, line, body)
  const of = (n: number) => `\${file:${file}:s${n}}`
  const hints = SECRETS.map((_, n) => of(n)).join('|')
  const closed = await freePort()
  const source = (where: string) => ({ 'connector.class': 'LeakingSource', hints, where })
  const sink = (where: string) => ({ 'connector.class': 'LeakingSink', hints, where, topics: 'leaks' })
  const CONNECTORS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    polls: source('poll'),
    causes: source('cause'),
    tasks: source('tasks'),
    logs: source('log'),
    prints: source('print'),
    later: source('later'),
    puts: sink('put'),
    letters: {
      ...sink('reject'),
      'errors.tolerance': 'all',
      'errors.log.enable': 'true',
      'errors.deadletterqueue.topic.name': 'dead',
      'errors.deadletterqueue.topic.replication.factor': '1',
      'errors.deadletterqueue.context.headers.enable': 'true',
    },
    http: {
      'connector.class': 'HttpSink',
      topics: 'leaks',
      'http.api.url': `http://user:${URL_LITERAL}@127.0.0.1:${closed}/${of(1)}?token=${of(2)}`,
      'max.retries': '0',
      password: LITERAL,
    },
    postgres: {
      'connector.class': 'PostgresSource',
      'connection.url': `postgres://user@127.0.0.1:${closed}/db`,
      'connection.password': of(3),
      mode: 'bulk',
      'topic.prefix': 'pg-',
    },
  }
  for (const [name, config] of Object.entries(CONNECTORS)) {
    const { status, body } = await call('POST /connectors', { name, config })
    expect([name, status, status === 201 ? '' : body]).toEqual([name, 201, ''])
  }
  type Status = {
    readonly connector: { readonly state: string }
    readonly tasks: readonly { readonly state: string }[]
  }
  const statusOf = async (name: string) => (await call(`GET /connectors/${name}/status`)).body as Status
  for (const name of ['polls', 'causes', 'later', 'puts', 'tasks']) {
    await until(`${name} to fail`, WAIT, async () => {
      const { connector, tasks } = await statusOf(name)
      return connector?.state === 'FAILED' || tasks?.[0]?.state === 'FAILED'
    })
  }
  const log = () => readFileSync(worker.logFile, 'utf8')
  await until('the log of a task', WAIT, () => /logs.*\[hidden\]/.test(log()))

  const texts: Record<string, string> = {}
  const paths = [
    '?expand=info&expand=status',
    ...Object.keys(CONNECTORS).flatMap((name) =>
      ['', '/config', '/tasks', '/status', '/tasks/0/status', '/topics', '/offsets'].map((path) => `/${name}${path}`),
    ),
  ]
  for (const role of ROLES) {
    for (const path of paths)
      texts[`${role} GET ${path}`] = JSON.stringify((await call(`GET /connectors${path}`, undefined, role)).body)
    texts[`${role} metrics`] = JSON.stringify((await call('GET /metrics', undefined, role)).body)
    const wrong = {
      ...source('refine'),
      name: 'wrong',
      'tasks.max': of(4),
      transforms: `${of(5)},${of(6)}`,
      predicates: of(7),
      'transforms.x.type': of(8),
      'value.converter': of(9),
    }
    const validations = { wrong, classless: { ...wrong, 'connector.class': of(10) }, nameless: { hints } }
    for (const [name, config] of Object.entries(validations)) {
      const { status, body } = await call('PUT /connector-plugins/LeakingSource/config/validate', config, role)
      texts[`${role} validates ${name}`] = `${status} ${JSON.stringify(body)}`
      texts[`${role} puts ${name}`] = JSON.stringify((await call('PUT /connectors/wrong/config', config, role)).body)
    }
  }
  const asked = texts['developer validates wrong']
  expect([asked?.slice(0, 3), asked?.includes('[hidden]')]).toEqual(['200', true])
  expect(texts['readonly validates wrong']).toMatch(/^200 .*"error_count":0/)
  await call('PUT /connectors/logs/stop')
  texts['alters offsets'] = JSON.stringify(
    (await call('PATCH /connectors/logs/offsets', { offsets: [{ partition: { url: 'x' }, offset: { at: '1' } }] }))
      .body,
  )
  expect(texts['alters offsets']).toContain('[hidden]')
  expect(texts['admin GET /polls/status']).toContain('[hidden]')
  expect(texts['admin GET /tasks/status']).toContain('[hidden]')
  await until('the output of a task', WAIT, () => /stdout.*\[hidden\]/.test(log()))
  await worker.stop()
  texts['log'] = log()

  const broker = await openBroker({ kind: 'embedded', directory: data }, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  for (const topic of ['leaks-configs', 'leaks-status', 'dead']) {
    const records = await readAll(broker, topic)
    expect([topic, records.length > 0]).toEqual([topic, true])
    texts[topic] = records
      .map(({ key, value, headers }) => [key, value, ...(headers ?? []).flat()].join('\n'))
      .join('\n')
  }
  expect(texts['dead']).toContain('[hidden]')
  expect(leaksIn(texts, SECRETS)).toEqual([])

  // What somebody wrote into a configuration is shown to those who may write it, and nowhere else.
  expect(texts['developer GET /http/config']).toContain(LITERAL)
  const elsewhere = Object.entries(texts).filter(([name]) => !/^(developer|admin) (GET|puts)|configs$/.test(name))
  expect(leaksIn(Object.fromEntries(elsewhere), [LITERAL, URL_LITERAL])).toEqual([])
})

/** Where secrets are, in any spelling. */
function leaksIn(texts: Readonly<Record<string, string>>, secrets: readonly string[]): readonly string[] {
  return Object.entries(texts).flatMap(([name, text]) =>
    secrets.flatMap((secret) =>
      spellingsOf(secret).flatMap((spelled) => {
        // Answers, the log and topics are JSON, in which a text may be escaped once more.
        const forms = [spelled, JSON.stringify(spelled).slice(1, -1)].map((form) => form.trim())
        const found = forms.find((form) => text.includes(form))
        return found === undefined
          ? []
          : [`${name}: ${found} near ${text.slice(text.indexOf(found) - 60, text.indexOf(found) + 20)}`]
      }),
    ),
  )
}
