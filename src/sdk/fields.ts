import { z } from 'zod'
import { trimAsJava } from '../common/trim-as-java.ts'
import type { Reaches } from './host-access.ts'

// Types of configuration keys, which are parsed from strings. `.default(…)` and `.optional()` are those of zod; a key with
// neither is required.

export type ConfigType = 'STRING' | 'SHORT' | 'INT' | 'LONG' | 'DOUBLE' | 'BOOLEAN' | 'LIST' | 'PASSWORD' | 'CLASS'
export type Importance = 'HIGH' | 'MEDIUM' | 'LOW'
export type Width = 'NONE' | 'SHORT' | 'MEDIUM' | 'LONG'

/** Description of a key in forms and reference pages. */
export type FieldInfo = {
  /** One or two sentences: its effect and its unit. */
  readonly doc: string
  /** Default `MEDIUM`. */
  readonly importance?: Importance
  readonly group?: string
  /** Place within the group. */
  readonly order?: number
  readonly width?: Width
  readonly displayName?: string
  readonly recommended?: readonly string[]
  /** Whether white space around the value is kept. Default: it is trimmed. */
  readonly isVerbatim?: boolean
  /** What the value refers to, so that a worker can check it against its access policy before the task starts. */
  readonly reaches?: Reaches
}

/** Metadata of a zod type, under one key of zod's registry, so that wrapper types inherit it. */
export type FieldMeta = FieldInfo & { readonly type: ConfigType }
export const FIELD_META = 'weir'

/** Marks a problem whose message already names key and value. */
export const WHOLE_SENTENCE = 'wholeSentence'

/** The number of bits of Java's integers. */
const BITS = { SHORT: 16, INT: 32, LONG: 64 } as const
type Whole = keyof typeof BITS

function field<T extends z.ZodType>(schema: T, type: ConfigType, info: FieldInfo): T {
  return schema.meta({ description: info.doc, [FIELD_META]: { ...info, type } satisfies FieldMeta }) as T
}

export function text(info: FieldInfo & { readonly nonEmpty?: boolean }) {
  const schema = info.nonEmpty ? z.string().min(1, 'String must be non-empty') : z.string()
  return field(schema, 'STRING', info)
}

/** The path of a file or directory. */
export function path(info: FieldInfo & { readonly nonEmpty?: boolean }) {
  return text({ ...info, reaches: 'path' })
}

/** A secret, which is masked wherever the configuration is shown. */
export function password(info: FieldInfo) {
  return field(z.string(), 'PASSWORD', info)
}

/** The name of a plugin. */
export function className(info: FieldInfo) {
  return field(z.string().min(1, 'a class name is needed'), 'CLASS', info)
}

export function short(info: FieldInfo & Limits) {
  return field(whole('SHORT', info), 'SHORT', info)
}

export function int(info: FieldInfo & Limits) {
  return field(whole('INT', info), 'INT', info)
}

/** An integer of up to 53 bits, unless `max` and `min` permit more: it is then rounded. */
export function long(info: FieldInfo & Limits) {
  return field(whole('LONG', { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, ...info }), 'LONG', info)
}

export function double(info: FieldInfo & Limits) {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = info
  const schema = z
    .string()
    .regex(/^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/, 'Not a number of type DOUBLE')
    .transform(Number)
    .refine((value) => value >= min, `Value must be at least ${min}`)
    .refine((value) => value <= max, `Value must be no more than ${max}`)
  return field(schema, 'DOUBLE', info)
}

export function boolean(info: FieldInfo) {
  const schema = z
    .string()
    .toLowerCase()
    .pipe(z.enum(['true', 'false'], 'Expected value to be either true or false'))
    .transform((word) => word === 'true')
  return field(schema, 'BOOLEAN', { recommended: ['true', 'false'], ...info })
}

/** Values separated by commas; white space around them is trimmed. */
export function list(info: FieldInfo) {
  const schema = z.string().transform((line) => listItems(line).filter((item) => item !== ''))
  return field(schema, 'LIST', info)
}

/**
 * The items of a value of type LIST as Kafka's `ConfigDef` reads it: an empty text has none, and items between commas may be empty.
 */
export function listItems(text: string): readonly string[] {
  const trimmed = trimAsJava(text)
  return trimmed === '' ? [] : trimmed.split(',').map((item) => trimAsJava(item))
}

export type OneOfInfo = FieldInfo & {
  /** Whether upper and lower case must be those of `words`. Default: false. */
  readonly isCaseSensitive?: boolean
  /** The message for other words. */
  readonly problem?: string
}

/** One of several words. The result is spelled as in `words`. */
export function oneOf<const Words extends readonly [string, ...string[]]>(
  words: Words,
  { isCaseSensitive = false, problem = `String must be one of: ${words.join(', ')}`, ...info }: OneOfInfo,
) {
  const folded = (word: string) => (isCaseSensitive ? word : word.toLowerCase())
  const schema = z.string().transform((word, context): Words[number] => {
    const found = words.find((known) => folded(known) === folded(word))
    if (found !== undefined) return found
    context.addIssue({ code: 'custom', message: problem })
    return z.NEVER
  })
  return field(schema, 'STRING', { recommended: words, ...info })
}

/** The text of a value as Kafka's `ConfigDef` prints it after parsing: `+3` is `3`, `TRUE` is `true`, `a , b` is `a,b`. */
export function printedValue(type: ConfigType, text: string): string {
  if (type === 'BOOLEAN') return text.toLowerCase()
  if (type === 'LIST') return listItems(text).join(',')
  return Object.hasOwn(BITS, type) && WHOLE_NUMBER.test(text) ? String(BigInt(text.replace('+', ''))) : text
}

/**
 * Adds a parser to a field. The message of an error that it throws is shown unchanged, so it must be a complete sentence. Use
 * zod's `refine` for a short message that is shown after the name and value of the key.
 */
export function parsed<Field extends z.ZodType, Value>(schema: Field, parse: (value: z.output<Field>) => Value) {
  return schema.transform((value, context): Value => {
    try {
      return parse(value)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      context.addIssue({ code: 'custom', message: error.message, params: { [WHOLE_SENTENCE]: true } })
      return z.NEVER
    }
  })
}

/**
 * Reports a problem of a key that involves other keys, in `superRefine` of the whole configuration. The message must name the
 * key.
 */
export function addProblem(context: z.core.$RefinementCtx, key: string, message: string): void {
  context.addIssue({ code: 'custom', path: [key], message, params: { [WHOLE_SENTENCE]: true } })
}

type Limits = { readonly min?: number; readonly max?: number }

const WHOLE_NUMBER = /^[-+]?\d{1,40}$/

function whole(type: Whole, { min = -Infinity, max = Infinity }: Limits) {
  return z
    .string()
    .refine((text) => isWhole(text, BITS[type]), `Not a number of type ${type}`)
    .transform(Number)
    .refine((value) => value >= min, `Value must be at least ${min}`)
    .refine((value) => value <= max, `Value must be no more than ${max}`)
}

function isWhole(text: string, bits: number): boolean {
  if (!WHOLE_NUMBER.test(text)) return false
  const value = BigInt(text.replace('+', ''))
  return BigInt.asIntN(bits, value) === value
}
