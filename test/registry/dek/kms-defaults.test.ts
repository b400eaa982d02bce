import { expect, it } from 'vitest'
import { withKmsDefaults } from '../../../src/registry/dek/kms-defaults.ts'

const rulesWith = (params: Readonly<Record<string, string>>) => ({ domainRules: [{ name: 'encrypt', params }] })

it.each([
  [
    { 'encrypt.kms.key.id': 'arn:aws:kms:us-west-2:111122223333:key/1234abcd' },
    { 'encrypt.kek.name': 'aws-kms-us-west-2-111122223333-key-1234abcd', 'encrypt.kms.type': 'aws-kms' },
  ],
  [{ 'encrypt.kms.key.id': 'https://vault/keys/k_ä' }, { 'encrypt.kek.name': 'https---vault-keys-k_ä' }],
  [{ 'encrypt.kms.key.id': 'arn:x', 'encrypt.kek.name': 'mine' }, { 'encrypt.kms.type': 'aws-kms' }],
  [{ 'encrypt.kms.key.id': 'arn:x', 'encrypt.kms.type': 'mine' }, { 'encrypt.kek.name': 'x' }],
  [{ 'encrypt.kek.name': 'mine' }, {}],
])('rules with %j get the defaults %j', (params, more) => {
  expect(withKmsDefaults(rulesWith(params))).toEqual(rulesWith({ ...params, ...more }))
})

it.each([undefined, {}, { migrationRules: [] }, { domainRules: [{ name: 'other' }] }])(
  '%j is returned unchanged',
  (ruleSet) => {
    expect(withKmsDefaults(ruleSet)).toEqual(ruleSet)
  },
)
