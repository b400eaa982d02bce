/** How to mend an incompatibility, by its type in Confluent's registry. */
const HINTS: Readonly<Record<string, string>> = {
  READER_FIELD_MISSING_DEFAULT_VALUE: 'give the new field a default value',
  MISSING_UNION_BRANCH: 'keep the branch in the union',
  MISSING_ENUM_SYMBOLS: 'keep the symbols, or give the enum a default symbol',
  NAME_MISMATCH: 'keep the name, or add the former name to the aliases',
  TYPE_MISMATCH: 'keep the type, or add a new field with the other type',
  FIXED_SIZE_MISMATCH: 'keep the size, or add a new field with another fixed type',
  REQUIRED_ATTRIBUTE_ADDED: 'leave the property out of required, or give it a default',
  REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL: 'leave the property out of required, or give it a default',
  PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL:
    'older data may have any value in the property: set additionalProperties to false, or the compatibility policy LENIENT',
  PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL: 'keep the property, or allow additionalProperties',
  ADDITIONAL_PROPERTIES_REMOVED: 'keep additionalProperties',
  ADDITIONAL_PROPERTIES_NARROWED: 'keep the schema of additionalProperties',
  ENUM_ARRAY_NARROWED: 'keep the values of the enum',
  TYPE_CHANGED: 'keep the type, or allow both types',
  TYPE_NARROWED: 'keep all types of the list',
  FIELD_SCALAR_KIND_CHANGED: 'keep the type of the field, or add a field with a new number',
  FIELD_NAMED_TYPE_CHANGED: 'keep the message type of the field, or add a field with a new number',
  FIELD_KIND_CHANGED: 'keep the kind of the field, or add a field with a new number',
  MESSAGE_REMOVED: 'keep the message',
  MESSAGE_MOVED: 'keep the order of the first message',
  REQUIRED_FIELD_ADDED: 'make the field optional',
  REQUIRED_FIELD_REMOVED: 'keep the required field',
}

const GENERAL = 'change the schema back where it differs, or register it under a new subject'

/** The hints for the conflicts in a message of the reason `Incompatible`: `version 3: TYPE at PATH: …`. */
export function hintForIncompatibility(message: string): string {
  const types = [...message.matchAll(/\bversion \d+: ([A-Z_]+) at /g)].map(([, type = '']) => type)
  const hints = new Set(types.flatMap((type) => HINTS[type] ?? []))
  return hints.size === 0 ? GENERAL : [...hints].join('; ')
}
