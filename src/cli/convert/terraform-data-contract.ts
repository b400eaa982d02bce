import type { SourceObject } from './source-object.ts'

/** Metadata of a data contract, as the registry's REST API has it. */
export function metadataOf(body: SourceObject): Readonly<Record<string, unknown>> | undefined {
  const metadata = body.object('metadata')
  if (metadata === undefined) return undefined
  const properties = Object.fromEntries(metadata.texts('properties'))
  const tags = metadata.objects('tags').flatMap((tag) => {
    const key = tag.requiredText('key')
    return key === undefined ? [] : [[key, textList(tag, 'value')] as const]
  })
  const sensitive = textList(metadata, 'sensitive')
  return {
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(tags.length > 0 && { tags: Object.fromEntries(tags) }),
    ...(sensitive.length > 0 && { sensitive }),
  }
}

/** Rules of a data contract. Terraform writes the names of fields with underscores. */
export function ruleSetOf(body: SourceObject): Readonly<Record<string, unknown>> | undefined {
  const ruleSet = body.object('ruleset')
  if (ruleSet === undefined) return undefined
  const groups = [
    ['domainRules', ruleSet.objects('domain_rules')],
    ['migrationRules', ruleSet.objects('migration_rules')],
    ['encodingRules', ruleSet.objects('encoding_rules')],
  ] as const
  return Object.fromEntries(groups.flatMap(([name, rules]) => (rules.length === 0 ? [] : [[name, rules.map(ruleOf)]])))
}

function ruleOf(rule: SourceObject): Readonly<Record<string, unknown>> {
  const tags = textList(rule, 'tags')
  const params = Object.fromEntries(rule.texts('params'))
  const fields = {
    name: rule.text('name'),
    doc: rule.text('doc'),
    kind: rule.text('kind'),
    mode: rule.text('mode'),
    type: rule.text('type'),
    tags: tags.length === 0 ? undefined : tags,
    params: Object.keys(params).length === 0 ? undefined : params,
    expr: rule.text('expr'),
    onSuccess: rule.text('on_success'),
    onFailure: rule.text('on_failure'),
    disabled: rule.flag('disabled'),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''))
}

function textList(source: SourceObject, name: string): readonly string[] {
  const value = source.value(name)
  if (value === undefined) return []
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  source.lose([name], 'is not a list of texts')
  return []
}
