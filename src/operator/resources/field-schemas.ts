import { z } from 'zod'

/**
 * A validation of several fields of one object. The API server evaluates `cel`; `isValid` is the same rule for
 * manifests of a directory. `field` is the field that the message refers to.
 */
export type ValidationRule<T> = {
  readonly cel: string
  readonly field?: string
  readonly message: string
  readonly isValid: (value: T) => boolean
}

/** Adds validations to an object. The CRD generator reads them from the schema's metadata. */
export function withRules<S extends z.ZodObject>(schema: S, rules: readonly ValidationRule<z.output<S>>[]): S {
  return schema
    .check((context) => {
      for (const { field, message, isValid } of rules) {
        if (isValid(context.value as z.output<S>)) continue
        context.issues.push({ code: 'custom', input: context.value, path: field === undefined ? [] : [field], message })
      }
    })
    .meta({ validations: rules.map(({ cel, field, message }) => ({ cel, field, message })) })
}

/** A text with a bounded number of code points, which is what the API server counts. Zod counts UTF-16 units. */
export const boundedText = (min: number, max: number) =>
  z
    .string()
    .check(({ value, issues }) => {
      const bound = { origin: 'string', input: value, inclusive: true } as const
      // Counts only if needed: a text has at most as many code points as units, and at least half as many.
      if (value.length < 2 * min && charactersOf(value) < min)
        issues.push({ ...bound, code: 'too_small', minimum: min })
      if (value.length > max && charactersOf(value) > max) issues.push({ ...bound, code: 'too_big', maximum: max })
    })
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max })

/** Code points: a surrogate pair is one, which has two units. */
const charactersOf = (value: string): number =>
  value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)

const OBJECT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const DURATION = /^([0-9]+(h|m|s))+$/

/** The name of an object: a lower-case DNS subdomain. */
export const objectName = () =>
  boundedText(1, 253).regex(OBJECT_NAME, 'must consist of lower-case letters, digits, - and ., such as orders-value')

/** A key of a ConfigMap or a Secret. */
export const dataKey = () =>
  boundedText(1, 253).regex(/^[-._a-zA-Z0-9]+$/, 'must consist of letters, digits, -, _ and .')

export const duration = () => boundedText(2, 20).regex(DURATION, 'must be a duration such as 30s, 10m or 1h30m')

export const subjectNameField = () =>
  boundedText(1, 255)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the registry rejects them
    .regex(/^[^\\\x00-\x1f]+$/, 'must not contain a backslash or control characters')

/** Milliseconds of a valid `duration`. */
export function durationMs(text: string): number {
  const unitMs = { h: 3_600_000, m: 60_000, s: 1_000 }
  let total = 0
  for (const [, count, unit] of text.matchAll(/(\d+)([hms])/g)) total += Number(count) * unitMs[unit as 'h' | 'm' | 's']
  return total
}

export const nameRef = (what: string) => z.strictObject({ name: objectName().describe(`Name of the ${what}.`) })
export const keyRef = (what: string) =>
  z.strictObject({
    name: objectName().describe(`Name of the ${what}.`),
    key: dataKey().describe(`Key in the ${what}.`),
  })
export const clusterRef = (what: string) =>
  nameRef(`${what} in the operator's configuration`).default({ name: 'default' })
export const int32 = () => z.int32()
export const freeObject = () => z.record(z.string(), z.unknown())
export const time = () => z.iso.datetime({ offset: true })

/** A list whose items server-side apply can own one by one, by the value of a field. */
export const mapList = <S extends z.ZodObject>(item: S, key: keyof S['shape'] & string) =>
  z
    .array(item)
    .check(({ value, issues }) => {
      const keys = (value as readonly Readonly<Record<string, unknown>>[]).map((each) => each[key])
      const duplicate = keys.findIndex((each, at) => keys.indexOf(each) < at)
      if (duplicate < 0) return
      const message = `${key} ${JSON.stringify(keys[duplicate])} is in the list already`
      issues.push({ code: 'custom', input: value, path: [duplicate, key], message })
    })
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] })
/** A map whose entries server-side apply can own one by one. */
export const textMap = (value: z.ZodString, entriesMax: number) =>
  z
    .record(z.string(), value)
    .check(({ value, issues }) => {
      if (Object.keys(value).length <= entriesMax) return
      issues.push({ code: 'custom', input: value, path: [], message: `is too large: at most ${entriesMax} entries` })
    })
    .meta({ 'x-kubernetes-map-type': 'granular', maxProperties: entriesMax })
/** A list that is replaced as a whole. */
export const atomicList = <S extends z.ZodType>(item: S) => z.array(item).meta({ 'x-kubernetes-list-type': 'atomic' })

/** An enum with a meaning for each value: `kubectl explain` shows only its description. */
export const choice = <const Meanings extends Readonly<Record<string, string>>>(about: string, meanings: Meanings) => {
  const words = Object.fromEntries(Object.keys(meanings).map((word) => [word, word]))
  const explained = Object.entries(meanings).map(([word, meaning]) => `${word}: ${meaning}.`)
  return z.enum(words as { readonly [Word in keyof Meanings & string]: Word }).describe([about, ...explained].join(' '))
}

/** A field of the status that the operator keeps for itself, and that no program should read. */
export const ownRecord = <S extends z.ZodType>(field: S) => field.meta({ mayChange: true })

export const driftPolicy = (what: string) =>
  choice(what, {
    Correct: 'the declared state is applied again',
    Report: 'the difference is reported by the condition Synced and an Event',
  }).default('Correct')
export const suspend = (where: string) =>
  z
    .boolean()
    .default(false)
    .describe(`true: the operator continues to observe and report, but writes nothing to the ${where}.`)
