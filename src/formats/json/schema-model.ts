import type { Pattern } from '../../regex/pattern.ts'

/** Any JSON value. */
export type PlainJson = null | boolean | number | string | readonly PlainJson[] | PlainJsonObject
export type PlainJsonObject = { readonly [key: string]: PlainJson }

/**
 * The model of a JSON Schema for comparisons, with one kind for each type of restriction. Several restrictions in one
 * schema object (such as a type and an enum, or a list of types) are a `combined` model.
 */
export type Model =
  | AnyModel
  | (Common & { readonly kind: 'never' | 'boolean' | 'null' | 'conditional' })
  | StringModel
  | NumberModel
  | (Common & { readonly kind: 'enum'; readonly values: readonly PlainJson[] })
  | (Common & { readonly kind: 'const'; readonly value: PlainJson })
  | (Common & { readonly kind: 'not'; readonly schema: Model })
  | ObjectModel
  | ArrayModel
  | CombinedModel
  | ReferenceModel

export type Common = {
  readonly hasDefault: boolean
  /** Two schemas with `connect.type: bytes` are compatible regardless of other keywords. */
  readonly isConnectBytes: boolean
  /** A key that is equal for equal schemas. */
  readonly text: string
}

/** `true` and `{}`. */
export type AnyModel = Common & { readonly kind: 'any' }
export type Bound = number | undefined

export type StringModel = Common & {
  readonly kind: 'string'
  readonly minLength: Bound
  readonly maxLength: Bound
  readonly pattern: string | undefined
}

export type NumberModel = Common & {
  readonly kind: 'number'
  readonly integer: boolean
  readonly minimum: Bound
  readonly maximum: Bound
  readonly exclusiveMinimum: Bound
  readonly exclusiveMaximum: Bound
  readonly multipleOf: Bound
}

/**
 * The schema for unlisted properties or items: absent allows everything, `never` nothing. `unevaluated` applies only if
 * `additional` is absent.
 */
export type Rest = { readonly additional: Model | undefined; readonly unevaluated: Model | undefined }

export type ObjectModel = Common &
  Rest & {
    readonly kind: 'object'
    readonly properties: ReadonlyMap<string, Model>
    readonly patterns: readonly { readonly pattern: Pattern; readonly schema: Model }[]
    readonly required: ReadonlySet<string>
    readonly minProperties: Bound
    readonly maxProperties: Bound
    readonly requiredBy: ReadonlyMap<string, ReadonlySet<string>>
    readonly schemaBy: ReadonlyMap<string, Model>
  }

export type ArrayModel = Common &
  Rest & {
    readonly kind: 'array'
    /** The schema of all items, if there is no tuple. */
    readonly items: Model | undefined
    readonly tuple: readonly Model[]
    readonly minItems: Bound
    readonly maxItems: Bound
    readonly minContains: Bound
    readonly maxContains: Bound
    readonly uniqueItems: boolean
  }

export type Criterion = 'allOf' | 'anyOf' | 'oneOf'
export type CombinedModel = Common & {
  readonly kind: 'combined'
  readonly criterion: Criterion
  readonly schemas: readonly Model[]
}

/** Resolved on use, because schemas can be recursive. */
export type ReferenceModel = Common & { readonly kind: 'reference'; readonly target: () => Model }
