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
}

/** The dialect that `$schema` names; draft-07 if it is absent or unknown. */
export function dialectOf(schema: PlainJson): Dialect {
  const isObject = schema !== null && typeof schema === 'object' && !Array.isArray(schema)
  const named = isObject ? (schema as PlainJsonObject)['$schema'] : undefined
  const match =
    typeof named === 'string' ? /json-schema\.org\/(?:draft\/)?(draft-0[467]|2019-09|2020-12)\//.exec(named) : null
  const draft = (match?.[1] ?? 'draft-07') as Draft
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
  }
}
