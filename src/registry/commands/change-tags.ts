import type { TagChange } from '../../formats/tags.ts'
import { checkRuleSet, invalidRule, mergeRuleSets, type RuleSet, withoutRules } from '../model/rule-set.ts'
import { type Metadata, VERSION_PROPERTY, withProperty } from '../model/schema-metadata.ts'
import type { Subject } from '../model/subject.ts'
import { findVersion, type VersionSelector } from '../queries/schema-lookup.ts'
import { findInAnyContext } from '../queries/schema-search.ts'
import type { Decision, DecisionContext } from './decision-types.ts'
import { decideRegister, type RegisteredSchemaResult } from './register-schema.ts'

export type TagsUpdate = {
  /** The version number to register; 0 means the next one. */
  readonly newVersion: number
  readonly tags: TagChange
  readonly metadata: Metadata | undefined
  /** Replaces the rule set of the previous version. */
  readonly ruleSet: RuleSet | undefined
  /** `rulesToMerge` and `rulesToRemove` change the rule set of the previous version. */
  readonly rulesToMerge: RuleSet | undefined
  readonly rulesToRemove: readonly string[] | undefined
}

/** Registers a version with changed tags and, if given, other metadata and rules. Throws as `decideRegister`. */
export async function decideTags(
  context: DecisionContext,
  name: Subject,
  selector: VersionSelector,
  update: TagsUpdate,
  isPermitted: (subject: Subject) => boolean,
): Promise<Decision<RegisteredSchemaResult>> {
  const { view } = context
  const { subject, content } = findInAnyContext(view, name, isPermitted, (one) =>
    findVersion(view, one, selector, { deleted: false }),
  )
  const { newVersion, tags, metadata = content.metadata } = update
  const ruleSet = changedRules(update, () => ruleSetBefore(context, subject, newVersion))
  const schema = { ...content, metadata: withProperty(metadata, VERSION_PROPERTY, String(newVersion)), ruleSet }
  return decideRegister(context, { subject, schema, id: -1, version: newVersion, normalize: false, force: false, tags })
}

function changedRules(
  { ruleSet, rulesToMerge, rulesToRemove }: TagsUpdate,
  before: () => RuleSet | undefined,
): RuleSet | undefined {
  checkRuleSet(rulesToMerge)
  if (!rulesToMerge && !rulesToRemove) return ruleSet
  if (ruleSet) throw invalidRule('ruleSet should be omitted if specifying rulesToMerge or rulesToRemove')
  return withoutRules(mergeRuleSets(before(), rulesToMerge), rulesToRemove ?? [])
}

function ruleSetBefore({ view }: DecisionContext, subject: Subject, newVersion: number): RuleSet | undefined {
  const before = newVersion === 0 ? view.latest(subject) : view.version(subject, newVersion - 1)
  return before?.content.ruleSet
}
