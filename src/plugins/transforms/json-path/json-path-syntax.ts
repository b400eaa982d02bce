/** A compiled JSON path. */
export type JsonPath = {
  /** Whether it starts at the root (`$`) or, in a filter, at the item that is tested (`@`). */
  readonly isRoot: boolean
  readonly segments: readonly Segment[]
  /** Whether it leads to at most one value. */
  readonly isDefinite: boolean
}

export type Segment = {
  /** Whether the selector applies to all descendants: `..name`. */
  readonly isDeep: boolean
  readonly selector: Selector
}

export type Selector =
  | { readonly kind: 'names'; readonly names: readonly string[] }
  | { readonly kind: 'indexes'; readonly indexes: readonly number[] }
  | { readonly kind: 'slice'; readonly from: number | undefined; readonly to: number | undefined }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly condition: PathCondition }

export type PathCondition =
  | { readonly kind: 'or' | 'and'; readonly terms: readonly PathCondition[] }
  | { readonly kind: 'not'; readonly term: PathCondition }
  | { readonly kind: 'exists'; readonly path: JsonPath }
  | { readonly kind: 'compare'; readonly operator: PathOperator; readonly left: Operand; readonly right: Operand }

export const OPERATORS = [
  '===',
  '!==',
  '==',
  '!=',
  '<=',
  '>=',
  '=~',
  '<',
  '>',
  'in',
  'nin',
  'contains',
  'size',
  'empty',
] as const
export type PathOperator = (typeof OPERATORS)[number]

export type Operand =
  | { readonly kind: 'path'; readonly path: JsonPath }
  | { readonly kind: 'value'; readonly value: unknown }
  /** A regular expression in Java's syntax, with its flags. */
  | { readonly kind: 'regex'; readonly text: string }
