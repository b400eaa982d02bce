import { mergeRuleSets } from '../model/rule-set.ts'
import type { SchemaContent, SentSchema } from '../model/schema.ts'
import { mergeMetadata } from '../model/schema-metadata.ts'
import type { EffectiveConfig } from '../queries/effective-config.ts'

export type MetadataAndRules = Pick<SchemaContent, 'metadata' | 'ruleSet'>

/**
 * Returns the metadata and rules to register: the config's defaults, overridden by those of the schema (or of the
 * previous version if it has none), overridden by the config's overrides.
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

/** Whether the config can add metadata or rules to any schema that is registered. */
export function hasDefaults(config: EffectiveConfig): boolean {
  return (
    config.defaultMetadata !== undefined ||
    config.overrideMetadata !== undefined ||
    config.defaultRuleSet !== undefined ||
    config.overrideRuleSet !== undefined
  )
}
