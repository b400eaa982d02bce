import { expect, it } from 'vitest'
import { type RawConfig, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { parseOverridePolicy } from '../../../src/worker/model/override-policy.ts'
import { validateConnector } from '../../../src/worker/validation/validate-connector.ts'
import { errorsOf, recordedRules, type Validation } from '../../golden/worker/validation-rules.ts'
import { localPluginHost } from '../../support/plugin-host.ts'
import { OPEN_VALIDATION } from '../../support/topic-access.ts'

const plugins = localPluginHost()
const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter'

async function validate(config: RawConfig): Promise<Validation['errors']> {
  const { configs } = await validateConnector(
    config,
    {
      plugins,
      groupId: 'java-connect',
      exactlyOnceSources: false,
      workerDefaults: { 'key.converter': JSON_CONVERTER, 'value.converter': JSON_CONVERTER },
      overrides: parseOverridePolicy('All', [])!,
      access: UNRESTRICTED,
      ...OPEN_VALIDATION,
    },
    { connects: false },
  )
  return errorsOf(configs)
}

/** Reasons for other errors than those of Kafka Connect. */
const DIFFERENCES: Readonly<Record<string, (config: RawConfig) => boolean>> = {
  'a version that is not a range is an error of its key instead of one of the request': (config) =>
    config['connector.plugin.version'] === '[1.0',
  'only the digits 0 to 9 are a number': (config) => config['tasks.max'] === '\u0663',
  'blanks around the class of a converter are ignored, with which Kafka Connect cannot load it': (config) =>
    config['key.converter']?.startsWith(' ') === true,
  'only the classes of plugins are known': (config) =>
    [config['key.converter'], config['transforms.a.type']].includes('java.lang.String') ||
    config['key.converter'] === 'org.apache.kafka.connect.storage.Converter',
  'a missing pattern has one error': (config) =>
    config['predicates.p.type']?.endsWith('TopicNameMatches') === true && !('predicates.p.pattern' in config),
  'a negative delay is an error, with which tasks of Kafka Connect fail at their first retry': (config) =>
    config['errors.retry.delay.max.ms'] === '-1',
  'values of Kafka clients are validated, with which tasks of Kafka Connect do not start': (config) =>
    Object.keys(config).some((key) => key.includes('.override.')),
}

/** Versions of the shipped plugins, and the words of Java's and JavaScript's regular expressions, differ. */
function withoutDetails(errors: unknown): unknown {
  return JSON.parse(JSON.stringify(errors), (_, value) =>
    typeof value === 'string'
      ? value.replace(/(available versions|Invalid regex|Syntax error in regular expression).*$/s, '$1')
      : value,
  )
}

it('gives the errors and values of Kafka Connect for each rule of its classes of configurations', async () => {
  const unused = new Set(Object.keys(DIFFERENCES))
  for (const { config, errors } of recordedRules().validations) {
    const ours = withoutDetails(await validate(config))
    const recorded = withoutDetails(errors)
    if (JSON.stringify(ours) === JSON.stringify(recorded)) continue
    const reason = Object.keys(DIFFERENCES).find((known) => DIFFERENCES[known]?.(config))
    if (reason === undefined) expect({ config, errors: ours }).toEqual({ config, errors: recorded })
    else unused.delete(reason)
  }
  expect([...unused], 'differences that do not occur').toEqual([])
})

it('reports keys of topic creation groups before the start, with the words of Kafka Connect after it', async () => {
  for (const { config, problem } of recordedRules().topicCreation) {
    const errors = await validate(config)
    const ours = typeof errors === 'string' ? [] : (errors['topic.creation.groups']?.errors ?? [])
    // Kafka Connect stops at the first error.
    const problems = [ours[0] ?? null, problem].map((message) => withoutDetails(message && withoutGroup(message)))
    expect({ config, problem: problems[0] }).toEqual({ config, problem: problems[1] })
  }
})

/** Validators of Kafka Connect know only the last part of a key that belongs to a group. */
function withoutGroup(message: string): string {
  return message.replace(/topic\.creation\.\w+\./, '')
}
