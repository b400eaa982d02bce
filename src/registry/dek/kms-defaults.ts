import type { Rule, RuleSet } from '../model/rule-set.ts'

const KEK_NAME = 'encrypt.kek.name'
const KMS_KEY_ID = 'encrypt.kms.key.id'
const KMS_TYPE = 'encrypt.kms.type'
const ARN = 'arn:'

/**
 * Completes encryption rules that name only a KMS key, as Confluent's registry does on registration: the KEK name is
 * derived from the key ID, and the KMS type of an ARN is `aws-kms`.
 */
export function withKmsDefaults<Rules extends RuleSet | undefined>(ruleSet: Rules): Rules {
  if (ruleSet?.domainRules === undefined) return ruleSet
  return { ...ruleSet, domainRules: ruleSet.domainRules.map(completeRule) }
}

function completeRule(rule: Rule): Rule {
  const keyId = rule.params?.[KMS_KEY_ID]
  if (keyId === undefined) return rule
  const defaults = { [KEK_NAME]: kekNameOf(keyId), ...(keyId.startsWith(ARN) ? { [KMS_TYPE]: 'aws-kms' } : {}) }
  return { ...rule, params: { ...defaults, ...rule.params } }
}

function kekNameOf(keyId: string): string {
  return keyId.replace(/^arn:/, '').replace(/[^\p{L}\p{Nd}_-]/gu, '-')
}
