/** Names for unions and enums that Confluent's converters use in all formats. */
export const SUM_TYPE_NAMES = {
  /** Parameter of the struct that represents a union, `oneOf` or `anyOf`; its value is the name. */
  union: 'org.apache.kafka.connect.data.Union',
  /** Parameter of a string that represents an enum: its name. With the suffix `.SYMBOL`: the number of the symbol. */
  enum: 'org.apache.kafka.connect.data.Enum',
  unionName: 'connect_union_',
  fieldName: 'connect_union_field_',
} as const
