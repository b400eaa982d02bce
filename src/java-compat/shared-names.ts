/** The names of choices and enums that all schema languages share, as Confluent's converters have them. */
export const SHARED = {
  /** Parameter of the struct that a union, `oneOf` or `anyOf` is read as: its name. */
  union: 'org.apache.kafka.connect.data.Union',
  /** Parameter of a string that was an enum: its name; with `.WORD` behind it: the word's number. */
  enum: 'org.apache.kafka.connect.data.Enum',
  unionName: 'connect_union_',
  fieldName: 'connect_union_field_',
} as const
