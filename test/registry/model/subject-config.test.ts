import { expect, it } from 'vitest'
import { type Config, inheritConfig } from '../../../src/registry/model/subject-config.ts'

it('inherits the validation and compatibility settings of the global config, but not alias, level, metadata and rules', () => {
  const inherited: Config = {
    normalize: true,
    validateFields: true,
    validateNewSchemas: false,
    validateRules: true,
    compatibilityPolicy: 'LENIENT',
    compatibilityGroup: 'major',
  }
  const metadata = { properties: { owner: 'all' } }
  const ownOnly: Config = {
    alias: 'other',
    aliasForDeks: 'other',
    compatibilityLevel: 'FULL',
    defaultMetadata: metadata,
    overrideMetadata: metadata,
    defaultRuleSet: { enableAt: 'x' },
    overrideRuleSet: { enableAt: 'x' },
  }
  expect(inheritConfig({}, { ...inherited, ...ownOnly })).toEqual(inherited)
  const own: Config = { normalize: false, compatibilityGroup: 'minor', compatibilityPolicy: 'STRICT' }
  expect(inheritConfig(own, inherited)).toEqual({ ...inherited, ...own })
})
