export const NAME_ADJUSTMENTS = ['none', 'avro', 'avro_unicode'] as const
export type NameAdjustment = (typeof NAME_ADJUSTMENTS)[number]

/** Makes the name of a schema valid for Avro, if so configured. It may have dots. */
export function adjustedSchemaName(name: string, adjustment: NameAdjustment): string {
  switch (adjustment) {
    case 'none':
      return name
    case 'avro':
      return name.replace(/^[^A-Za-z_]|[^\w.]/g, '_')
    case 'avro_unicode':
      return name.replace(/^[^A-Za-z]|[^A-Za-z0-9.]/g, asUnicode)
  }
}

/** Makes the name of a field valid for Avro, if so configured. */
export function adjustedFieldName(name: string, adjustment: NameAdjustment): string {
  switch (adjustment) {
    case 'none':
      return name
    case 'avro':
      return name.replace(/\W/g, '_').replace(/^\d/, '_$&')
    case 'avro_unicode':
      return name.replace(/^[^A-Za-z]|[^A-Za-z0-9]/g, asUnicode)
  }
}

/** One UTF-16 code unit. */
export function asUnicode(character: string): string {
  return `_u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
