import type { PlainJson, PlainJsonObject } from './schema-model.ts'

export type Draft = 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12'

/** The differences between the drafts that are relevant here. */
export type Dialect = {
  readonly draft: Draft
  readonly idKeyword: 'id' | '$id'
  readonly hasConst: boolean
  /** `contains` and `propertyNames`. */
  readonly hasContains: boolean
  /** `if`, `then` and `else`. */
  readonly hasConditional: boolean
  readonly refHasSiblings: boolean
  readonly hasPrefixItems: boolean
  /** 2019-09 and later: `dependentRequired`, `unevaluated…`, `minContains`. */
  readonly isModern: boolean
  /** The keyword of references whose target depends on the schemas that led to them. */
  readonly dynamicRefKeyword: '$recursiveRef' | '$dynamicRef' | undefined
  /** Whether values are restricted by `type`, `minimum` and so on. A meta-schema can exclude this vocabulary. */
  readonly hasValidation: boolean
}

const DYNAMIC_REF = { '2019-09': '$recursiveRef', '2020-12': '$dynamicRef' } as const

/**
 * The dialect that `$schema` names: a draft, or a meta-schema among the references. If `$schema` is absent or unknown, the
 * dialect is `inherited`, which is draft-07 for a schema that nothing refers to.
 */
export function dialectOf(
  schema: PlainJson,
  inherited: Dialect = dialectOfDraft('draft-07'),
  references: ReadonlyMap<string, PlainJson> = new Map(),
): Dialect {
  const name = nameIn(schema)
  if (name === undefined) return inherited
  const draft = draftNamed(name)
  if (draft !== undefined) return dialectOfDraft(draft)
  const metaSchema = references.get(name.replace(/#$/, '')) ?? true
  const base = draftNamed(nameIn(metaSchema) ?? '')
  if (base === undefined) return inherited
  return { ...dialectOfDraft(base), hasValidation: hasValidation((metaSchema as PlainJsonObject)['$vocabulary']) }
}

function nameIn(schema: PlainJson): string | undefined {
  const isObject = schema !== null && typeof schema === 'object' && !Array.isArray(schema)
  const name = isObject ? (schema as PlainJsonObject)['$schema'] : undefined
  return typeof name === 'string' ? name : undefined
}

function draftNamed(name: string): Draft | undefined {
  return /json-schema\.org\/(?:draft\/)?(draft-0[467]|2019-09|2020-12)\//.exec(name)?.[1] as Draft | undefined
}

function hasValidation(vocabulary: PlainJson | undefined): boolean {
  const isListed = vocabulary !== undefined && vocabulary !== null && typeof vocabulary === 'object'
  return !isListed || Object.keys(vocabulary).some((name) => name.endsWith('/vocab/validation'))
}

function dialectOfDraft(draft: Draft): Dialect {
  const isModern = draft === '2019-09' || draft === '2020-12'
  return {
    draft,
    idKeyword: draft === 'draft-04' ? 'id' : '$id',
    hasConst: draft !== 'draft-04',
    hasContains: draft !== 'draft-04',
    hasConditional: draft === 'draft-07' || isModern,
    refHasSiblings: isModern,
    hasPrefixItems: draft === '2020-12',
    isModern,
    dynamicRefKeyword: isModern ? DYNAMIC_REF[draft] : undefined,
    hasValidation: true,
  }
}
