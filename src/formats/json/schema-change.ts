/** A change that is incompatible unless the policy allows it. The names are those of Confluent's registry. */
export type ChangeType = (typeof TYPES)[number]

/** `path` is relative to the compared schemas, without a leading slash; empty for the schemas themselves. */
export type Change = { readonly type: ChangeType; readonly path: string }

export type Policy = 'STRICT' | 'LENIENT'

const KEYWORD_ADDED = [
  'MAXIMUM_ADDED',
  'MINIMUM_ADDED',
  'EXCLUSIVE_MAXIMUM_ADDED',
  'EXCLUSIVE_MINIMUM_ADDED',
  'MULTIPLE_OF_ADDED',
  'MAX_LENGTH_ADDED',
  'MIN_LENGTH_ADDED',
  'PATTERN_ADDED',
  'REQUIRED_ATTRIBUTE_ADDED',
  'MAX_PROPERTIES_ADDED',
  'MIN_PROPERTIES_ADDED',
  'DEPENDENCY_ARRAY_ADDED',
  'DEPENDENCY_SCHEMA_ADDED',
  'MAX_ITEMS_ADDED',
  'MIN_ITEMS_ADDED',
  'MAX_CONTAINS_ADDED',
  'MIN_CONTAINS_ADDED',
  'UNIQUE_ITEMS_ADDED',
  'ADDITIONAL_ITEMS_REMOVED',
  'ADDITIONAL_PROPERTIES_REMOVED',
  'UNEVALUATED_PROPERTIES_REMOVED',
  'UNEVALUATED_ITEMS_REMOVED',
] as const
const VALUE_INCREASED = [
  'MIN_LENGTH_INCREASED',
  'MINIMUM_INCREASED',
  'EXCLUSIVE_MINIMUM_INCREASED',
  'MIN_PROPERTIES_INCREASED',
  'MULTIPLE_OF_EXPANDED',
  'MIN_ITEMS_INCREASED',
  'MIN_CONTAINS_INCREASED',
] as const
const VALUE_DECREASED = [
  'MAX_LENGTH_DECREASED',
  'MAXIMUM_DECREASED',
  'MAX_ITEMS_DECREASED',
  'MAX_CONTAINS_DECREASED',
  'EXCLUSIVE_MAXIMUM_DECREASED',
  'MAX_PROPERTIES_DECREASED',
] as const
const NARROWED = [
  'ADDITIONAL_ITEMS_NARROWED',
  'ENUM_ARRAY_NARROWED',
  'SUM_TYPE_NARROWED',
  'ADDITIONAL_PROPERTIES_NARROWED',
  'UNEVALUATED_PROPERTIES_NARROWED',
  'UNEVALUATED_ITEMS_NARROWED',
] as const
const VALUE_CHANGED = ['PATTERN_CHANGED', 'MULTIPLE_OF_CHANGED', 'DEPENDENCY_ARRAY_CHANGED'] as const
const TYPE_CHANGED = [
  'TYPE_CHANGED',
  'TYPE_NARROWED',
  'COMBINED_TYPE_CHANGED',
  'COMBINED_TYPE_SUBSCHEMAS_CHANGED',
  'ENUM_ARRAY_CHANGED',
] as const
const EXTENDED = ['DEPENDENCY_ARRAY_EXTENDED', 'PRODUCT_TYPE_EXTENDED', 'NOT_TYPE_EXTENDED'] as const
const ADDED_TO_OPEN = [
  'REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL',
  'REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL',
  'OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL',
  'ITEM_ADDED_TO_OPEN_CONTENT_MODEL',
] as const
const REQUIRED_ADDED = ['REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL'] as const
const REMOVED_FROM_CLOSED = [
  'PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL',
  'ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL',
] as const
const REMOVED_NOT_COVERED = [
  'PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL',
  'ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL',
] as const
const ADDED_NOT_COVERED = [
  'PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL',
  'ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL',
] as const

const TYPES = [
  ...KEYWORD_ADDED,
  ...VALUE_INCREASED,
  ...VALUE_DECREASED,
  ...NARROWED,
  ...VALUE_CHANGED,
  ...TYPE_CHANGED,
  ...EXTENDED,
  ...ADDED_TO_OPEN,
  ...REQUIRED_ADDED,
  ...REMOVED_FROM_CLOSED,
  ...REMOVED_NOT_COVERED,
  ...ADDED_NOT_COVERED,
  'SCHEMA_ADDED',
] as const

/** The changes that the LENIENT policy allows. They concern added, removed and unlisted properties. */
const LENIENT: ReadonlySet<ChangeType> = new Set<ChangeType>([
  'ADDITIONAL_PROPERTIES_NARROWED',
  'ADDITIONAL_PROPERTIES_REMOVED',
  'UNEVALUATED_PROPERTIES_NARROWED',
  'UNEVALUATED_PROPERTIES_REMOVED',
  'REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL',
  'OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL',
  'PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL',
  'PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL',
  'PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL',
])

export function isAllowed(type: ChangeType, policy: Policy): boolean {
  return policy === 'LENIENT' && LENIENT.has(type)
}

type Wording = (path: string) => string

/** The messages of Confluent's registry. The first `%s` is the name of the reader's schema, the second the writer's. */
const WORDINGS: readonly (readonly [readonly ChangeType[], Wording])[] = [
  [KEYWORD_ADDED, (at) => `The keyword at path '${at}' in the %s schema is not present in the %s schema`],
  [VALUE_INCREASED, (at) => `The value at path '${at}' in the %s schema is more than its value in the %s schema`],
  [VALUE_DECREASED, (at) => `The value at path '${at}' in the %s schema is less than its value in the %s schema`],
  [VALUE_CHANGED, (at) => `The value at path '${at}' is different between the %s and %s schema`],
  [
    NARROWED,
    (at) => `An array or combined type at path '${at}' has fewer elements in the %s schema than the %s schema`,
  ],
  [EXTENDED, (at) => `An array or combined type at path '${at}' has more elements in the %s schema than the %s schema`],
  [TYPE_CHANGED, (at) => `A type at path '${at}' is different between the %s schema and the %s schema`],
  [
    ADDED_TO_OPEN,
    (at) =>
      `The %s schema has an open content model and has a property or item at path '${at}' which is missing in the %s schema`,
  ],
  [
    REQUIRED_ADDED,
    (at) =>
      `The %s schema has an unopen content model and has a required property at path '${at}' which is missing in the %s schema`,
  ],
  [
    REMOVED_FROM_CLOSED,
    (at) =>
      `The %s has a closed content model and is missing a property or item present at path '${at}' in the %s schema`,
  ],
  [
    REMOVED_NOT_COVERED,
    (at) =>
      `A property or item is missing in the %s schema but present at path '${at}' in the %s schema and is not covered by its partially open content model`,
  ],
  [
    ADDED_NOT_COVERED,
    (at) =>
      `The %s schema has a property or item at path '${at}' which is missing in the %s schema and is not covered by its partially open content model`,
  ],
]

const WORDING_BY_TYPE: ReadonlyMap<ChangeType, Wording> = new Map(
  WORDINGS.flatMap(([types, wording]) => types.map((type) => [type, wording] as const)),
)

/** Returns the message of a change. It contains `%s` twice, for the names of the reader's and the writer's schema. */
export function describeChange({ type, path }: Change): string {
  return WORDING_BY_TYPE.get(type)?.(`#/${path}`) ?? ''
}
