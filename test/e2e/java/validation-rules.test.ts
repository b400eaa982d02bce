import { expect, it } from 'vitest'
import type { ConfigInfos } from '../../../src/clients/worker-client.ts'
import type { RawConfig } from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import {
  errorsOf,
  RECORDED_RULES,
  type RecordedRules,
  RULE_CONFIGS,
  TOPIC_CREATION,
  type Validation,
} from '../../golden/worker/validation-rules.ts'
import { fetchFromJava } from '../../support/java-requests.ts'
import { until } from '../../support/until.ts'

const javaConnect = await real('javaConnect')

const WAIT = { everyMs: 100, timeoutMs: 120_000 }

async function put(path: string, config: RawConfig): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetchFromJava(`${javaConnect.address.url}${path}`, { method: 'PUT', headers, body: JSON.stringify(config) })
}

async function validate(config: RawConfig): Promise<Validation> {
  const response = await put(`/connector-plugins/${config['connector.class']}/config/validate`, config)
  const answer = (await response.json()) as ConfigInfos & { readonly message: string }
  return { config, errors: response.ok ? errorsOf(answer.configs) : answer.message }
}

async function startProblem(config: RawConfig, name: string): Promise<string | null> {
  expect(await put(`/connectors/${name}/config`, { ...config, name })).toMatchObject({ ok: true })
  const url = `${javaConnect.address.url}/connectors/${name}`
  let trace: string | undefined
  await until(`the start of ${name}`, WAIT, async () => {
    const response = await fetch(`${url}/status`)
    if (!response.ok) return false
    const { connector, tasks } = (await response.json()) as {
      readonly connector: { readonly trace?: string }
      readonly tasks: readonly { readonly state: string }[]
    }
    trace = connector.trace
    return trace !== undefined || tasks[0]?.state === 'RUNNING'
  })
  expect(await fetchFromJava(url, { method: 'DELETE' })).toMatchObject({ ok: true })
  return trace?.replace(/^.*ConfigException: /, '').replace(/\n\tat .*$/s, '') ?? null
}

describeOn([javaConnect], "the recorded answers to the rules of Kafka Connect's classes", () => {
  it('are those of Kafka Connect', async () => {
    const validations = []
    for (const config of RULE_CONFIGS) validations.push(await validate(config))
    const topicCreation = []
    for (const [index, config] of TOPIC_CREATION.entries()) {
      topicCreation.push({ config, problem: await startProblem(config, `rules-${index}`) })
    }
    const recorded: RecordedRules = { validations, topicCreation }
    await expect(`${JSON.stringify(recorded, null, 1)}\n`).toMatchFileSnapshot(RECORDED_RULES)
  })
})
