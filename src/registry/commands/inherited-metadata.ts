import { mergeMetadata } from '../model/metadata.ts'
import { mergeRuleSets } from '../model/rule-set.ts'
import type { SchemaContent } from '../model/schema.ts'
import type { EffectiveConfig } from '../queries/effective-config.ts'
import type { SentSchema } from '../queries/schema-lookup.ts'

export type MetadataAndRules = Pick<SchemaContent, 'metadata' | 'ruleSet'>

/**
 * Metadata and rules as they are registered: config's defaults, over them the schema's own or else those of the version
 * before, over all what config overrides.
 */
export function inheritMetadata(
  sent: SentSchema,
  previous: SchemaContent | undefined,
  config: EffectiveConfig,
): MetadataAndRules {
  const metadata = sent.metadata ?? previous?.metadata
  const ruleSet = sent.ruleSet ?? previous?.ruleSet
  return {
    metadata: mergeMetadata(mergeMetadata(config.defaultMetadata, metadata), config.overrideMetadata),
    ruleSet: mergeRuleSets(mergeRuleSets(config.defaultRuleSet, ruleSet), config.overrideRuleSet),
  }
}

/** Whether registering may add to what was sent, whatever that is. */
export function hasDefaults(config: EffectiveConfig): boolean {
  return (
    config.defaultMetadata !== undefined ||
    config.overrideMetadata !== undefined ||
    config.defaultRuleSet !== undefined ||
    config.overrideRuleSet !== undefined
  )
}
