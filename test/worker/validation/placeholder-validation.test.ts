import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ConfigInfos } from '../../../src/clients/worker-client.ts'
import { MASK } from '../../../src/common/secrets/secret-keys.ts'
import { SecretMasker } from '../../../src/common/secrets/secret-masker.ts'
import { defineSource, field, UNRESTRICTED, z } from '../../../src/sdk/index.ts'
import { ConfigResolver } from '../../../src/worker/configuration/config-resolver.ts'
import { parseOverridePolicy } from '../../../src/worker/model/override-policy.ts'
import {
  type Validate,
  validateResolved,
  validateUnresolved,
} from '../../../src/worker/validation/placeholder-validation.ts'
import { type ValidationContext, validateConnector } from '../../../src/worker/validation/validate-connector.ts'
import { localPluginHost } from '../../support/plugin-host.ts'
import { propertyRuns } from '../../support/property-seed.ts'
import { SHIPPED } from '../../support/shipped-plugins.ts'
import { OPEN_VALIDATION } from '../../support/topic-access.ts'

const context: ValidationContext = {
  plugins: localPluginHost(),
  groupId: 'workers',
  exactlyOnceSources: false,
  workerDefaults: { 'value.converter': 'org.apache.kafka.connect.json.JsonConverter' },
  overrides: parseOverridePolicy('All', [])!,
  access: UNRESTRICTED,
  ...OPEN_VALIDATION,
}
const validate: Validate = (config, options) => validateConnector(config, context, options)
const SINK = { 'connector.class': 'FileStreamSink', name: 'sink', topics: 'orders', file: '/tmp/x' }
const of = (name: string, { configs }: ConfigInfos) => configs.find(({ value }) => value.name === name)?.value

async function resolved(written: Readonly<Record<string, string>>, values: Readonly<Record<string, string>>) {
  const resolver = new ConfigResolver(new Map([['env', () => values]]), new SecretMasker())
  return validateResolved(written, await resolver.resolve(written), validate)
}

describe('validation for a user who may not create connectors', () => {
  it('accepts placeholders in any value without resolving them', async () => {
    const written = { ...SINK, 'tasks.max': '${env:N}', transforms: 'a,${env:X}', 'transforms.a.type': '${env:T}' }
    const validation = await validateUnresolved(written, validate)
    expect(validation).toMatchObject({ error_count: 0 })
    expect(of('tasks.max', validation)).toMatchObject({ value: '${env:N}', errors: [] })
    expect(of('transforms', validation)).toMatchObject({ value: 'a,${env:X}', errors: [] })
  })

  it('reports errors in other values', async () => {
    const validation = await validateUnresolved({ ...SINK, 'tasks.max': 'many', file: '${env:F}' }, validate)
    expect(validation.error_count).toBeGreaterThan(0)
    expect(of('tasks.max', validation)?.errors[0]).toMatch(/^Invalid value many/)
  })
})

describe('validation for a user who may create connectors', () => {
  it('validates the resolved values without returning them', async () => {
    const validation = await resolved({ ...SINK, 'tasks.max': '${env:N}' }, { N: 'hideaway' })
    expect(of('tasks.max', validation)).toMatchObject({
      value: '${env:N}',
      errors: expect.arrayContaining(['Invalid value [hidden] for configuration tasks.max: Not a number of type INT']),
    })
  })

  it('reports errors of keys that a resolved value implies at the key with the placeholder', async () => {
    const validation = await resolved(
      { ...SINK, transforms: '${env:X}', predicates: '${env:X}' },
      { X: 'first, hideaway' },
    )
    expect(JSON.stringify(validation)).not.toMatch(/hideaway|first/)
    expect(of('transforms', validation)?.errors).toContain(
      'Missing required configuration "transforms.[hidden].type" which has no default value.',
    )
    expect(validation.groups.join()).not.toContain('hideaway')
  })

  it('reports a missing or unknown connector class without resolved values', async () => {
    const validation = resolved({ topics: 'orders', file: '${env:F}' }, { F: 'hideaway' })
    await expect(validation).rejects.toThrow(
      'Connector config {topics=orders, file=${env:F}} contains no connector type',
    )
    const unknown = resolved({ ...SINK, 'connector.class': '${env:C}' }, { C: 'hideaway' })
    await expect(unknown).rejects.toThrow('Failed to find any class that implements Connector')
    await expect(unknown).rejects.not.toThrow(/hideaway/)
  })
})

describe('the resolved value of a placeholder', () => {
  const KEYS = [
    ...['topics', 'topics.regex', 'file', 'tasks.max', 'name', 'transforms', 'predicates', 'transforms.a.type'],
    ...['transforms.a.field', 'transforms.a.predicate', 'predicates.p.type', 'value.converter', 'key.converter'],
    ...['errors.deadletterqueue.topic.name', 'errors.tolerance', 'consumer.override.group.id', 'tasks.max.enforce'],
    ...['value.converter.schemas.enable', 'connector.class', 'config.action.reload', 'unknown.key'],
  ]
  const secret = fc
    .string({ unit: fc.constantFrom(...'XYZ789,;:/ \n%"\'[(*é'), minLength: 1, maxLength: 24 })
    .filter((text) => text.trim() !== '')

  it('appears in no part of the validation result, whatever its key, alone or inside other text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom('${env:A}', 'x,${env:A}', '${env:A}${env:B}'), {
          minKeys: 1,
        }),
        secret,
        secret,
        async (placeholders, a, b) => {
          const written = { ...SINK, transforms: 'a', predicates: 'p', ...placeholders }
          const answers = [
            await resolved(written, { A: a, B: b }).catch((error: Error) => error.message),
            await validateUnresolved(written, validate).catch((error: Error) => error.message),
          ]
          // Only texts that differ from a result with other values.
          const unaffected = JSON.stringify([
            await resolved(written, { A: 'Q#1Q', B: 'Q#2Q' }).catch(({ message }: Error) => message),
            answers[1],
          ])
          const texts = textsIn(answers).filter((text) => !unaffected.includes(JSON.stringify(text).slice(1, -1)))
          for (const value of [a, b, ...a.split(/[,;\n]/), ...b.split(/[,;\n]/)].map((text) => text.trim())) {
            if (value !== '' && /[XYZ789é]/.test(value))
              expect(texts.filter((text) => text.includes(value))).toEqual([])
          }
        },
      ),
      { numRuns: propertyRuns(60) },
    )
  })
})

function textsIn(data: unknown): readonly string[] {
  if (typeof data === 'string') return [data]
  if (Array.isArray(data)) return data.flatMap(textsIn)
  return typeof data === 'object' && data !== null
    ? Object.entries(data).flatMap((entry) => entry.flatMap(textsIn))
    : []
}

describe('the validation of a connector against its external system', () => {
  const asked: string[] = []
  const guarded = defineSource({
    class: 'GuardedSource',
    version: '1',
    summary: 'Accepts one password.',
    config: z.object({ password: field.password({ doc: 'The password.' }) }),
    async *poll() {},
    async validate({ password }) {
      asked.push(password)
      return password === 'right' ? [] : [{ key: 'password', message: `the system refuses ${password}` }]
    },
  })
  const own: Validate = (config, options) =>
    validateConnector(config, { ...context, plugins: localPluginHost([...SHIPPED, guarded]) }, options)
  const GUARDED = { name: 'guarded', 'connector.class': 'GuardedSource' }
  const errorsOf = (validation: ConfigInfos) => validation.configs.flatMap(({ value }) => value.errors)

  async function resolvedErrors(written: Readonly<Record<string, string>>, values: Readonly<Record<string, string>>) {
    asked.length = 0
    const resolver = new ConfigResolver(new Map([['env', () => values]]), new SecretMasker())
    return errorsOf(await validateResolved(written, await resolver.resolve(written), own))
  }

  it('uses resolved values only, and masks them in its errors', async () => {
    const written = { ...GUARDED, password: '${env:P}' }
    expect(await resolvedErrors(written, { P: 'wrong' })).toEqual(['the system refuses [hidden]'])
    expect(asked).toEqual(['wrong'])
    expect(await resolvedErrors(written, { P: 'right' })).toEqual([])
    expect(asked).toEqual(['right'])
  })

  it('does not happen for a user who may not create connectors, with a masked secret, or with invalid keys', async () => {
    asked.length = 0
    expect(errorsOf(await validateUnresolved({ ...GUARDED, password: 'wrong' }, own))).toEqual([])
    expect(await resolvedErrors({ ...GUARDED, password: MASK }, {})).toEqual([])
    expect(await resolvedErrors(GUARDED, {})).toEqual([
      'Missing required configuration "password" which has no default value.',
    ])
    expect(asked).toEqual([])
  })
})
