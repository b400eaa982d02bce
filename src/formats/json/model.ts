import type { Pattern } from '../../regex/pattern.ts'

/** Any JSON value. */
export type PlainJson = null | boolean | number | string | readonly PlainJson[] | PlainJsonObject
export type PlainJsonObject = { readonly [key: string]: PlainJson }

/**
 * A JSON Schema as compatibility sees it: one kind for each way a value can be restricted. What stands side by side in
 * one schema object (a type beside an enum, a list of types) is a `combined` of its parts.
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
  /** Two schemas that say `connect.type: bytes` are alike whatever else they say. */
  readonly isConnectBytes: boolean
  /** Equal for schemas that say the same. */
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
 * What may stand beside the listed members or items: anything (absent), nothing (`never`), or what fits a schema.
 * `unevaluated` counts only where `additional` is absent.
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
    /** Of every item, when items are not listed. */
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

/** Resolved when it is looked at, because schemas may refer to themselves. */
export type ReferenceModel = Common & { readonly kind: 'reference'; readonly target: () => Model }
