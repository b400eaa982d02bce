import { expect, it } from 'vitest'
import { type Config, inheritConfig } from '../../../src/registry/model/config.ts'

it("completes a subject's own config by what is global, but not by what is a subject's alone", () => {
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
