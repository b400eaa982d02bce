import type { FieldTransform } from '../../src/formats/field-transform.ts'

/** A transform that encloses values in angle brackets and records its calls. */
export function recordingTransform() {
  const seen: (readonly [fullName: string, type: string, value: unknown])[] = []
  const tags: (readonly string[])[] = []
  const transform: FieldTransform = (field, type, value) => {
    seen.push([field.fullName, type, value])
    tags.push(field.tags)
    return `<${value}>`
  }
  return { transform, seen, tags }
}
