import { z } from 'zod'
import type { Reaches } from './access.ts'

// The kinds of configuration values, parsed from the strings that people write. `.default(…)` and `.optional()` are
// zod's own and say what holds when a key is absent; a key without either is required.

export type ConfigType = 'STRING' | 'SHORT' | 'INT' | 'LONG' | 'DOUBLE' | 'BOOLEAN' | 'LIST' | 'PASSWORD' | 'CLASS'
export type Importance = 'HIGH' | 'MEDIUM' | 'LOW'
export type Width = 'NONE' | 'SHORT' | 'MEDIUM' | 'LONG'

/** What forms and reference pages show of a key. */
export type FieldInfo = {
  /** A sentence or two: what it does, and in which unit. */
  readonly doc: string
  /** Default `MEDIUM`. */
  readonly importance?: Importance
  readonly group?: string
  /** Place within the group. */
  readonly order?: number
  readonly width?: Width
  readonly displayName?: string
  readonly recommended?: readonly string[]
  /** Blanks and line ends around the value belong to it. Default: they are left out. */
  readonly isVerbatim?: boolean
  /** What the value leads to outside of the plugin, so that a worker can refuse it before anything is opened. */
  readonly reaches?: Reaches
}

/** What is kept with a zod type, under one key of zod's own registry so that wrappers inherit it. */
export type FieldMeta = FieldInfo & { readonly type: ConfigType }
export const FIELD_META = 'weir'

/** Marks a problem whose message names key and value itself. */
export const WHOLE_SENTENCE = 'wholeSentence'

const SHORT_MAX = 2 ** 15 - 1
const INT_MAX = 2 ** 31 - 1

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

/** A secret: never shown again once it is written. */
export function password(info: FieldInfo) {
  return field(z.string(), 'PASSWORD', info)
}

/** The name of a plugin. */
export function className(info: FieldInfo) {
  return field(z.string().min(1, 'a class name is needed'), 'CLASS', info)
}

export function short(info: FieldInfo & Limits) {
  return field(whole('SHORT', { min: -SHORT_MAX - 1, max: SHORT_MAX, ...info }), 'SHORT', info)
}

export function int(info: FieldInfo & Limits) {
  return field(whole('INT', { min: -INT_MAX - 1, max: INT_MAX, ...info }), 'INT', info)
}

/** A whole number of up to 53 bits. */
export function long(info: FieldInfo & Limits) {
  return field(whole('LONG', { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, ...info }), 'LONG', info)
}

export function double(info: FieldInfo & Limits) {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = info
  const schema = z
    .string()
    .regex(/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/, 'Not a number of type DOUBLE')
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

/** Comma-separated words; blanks around them do not count. */
export function list(info: FieldInfo) {
  const schema = z.string().transform((line) => line.split(',').flatMap((item) => item.trim() || []))
  return field(schema, 'LIST', info)
}

/** One of a few words, written in any case; gives the word as spelled in `words`. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words, info: FieldInfo) {
  const schema = z.string().transform((word, context): Words[number] => {
    const found = words.find((known) => known.toLowerCase() === word.toLowerCase())
    if (found !== undefined) return found
    context.addIssue({ code: 'custom', message: `String must be one of: ${words.join(', ')}` })
    return z.NEVER
  })
  return field(schema, 'STRING', { recommended: words, ...info })
}

/**
 * Adds a parser of one's own to a field. What it throws is told as it is, so its message has to be a whole sentence. For
 * a shorter one, which is told behind the name and value of the key, zod's `refine` is enough.
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
 * Says what is wrong about a key beside others: for `superRefine` of a whole configuration. The message names the key
 * itself.
 */
export function addProblem(context: z.core.$RefinementCtx, key: string, message: string): void {
  context.addIssue({ code: 'custom', path: [key], message, params: { [WHOLE_SENTENCE]: true } })
}

type Limits = { readonly min?: number; readonly max?: number }

function whole(type: 'SHORT' | 'INT' | 'LONG', { min, max }: Required<Limits>) {
  return z
    .string()
    .regex(/^[-+]?\d+$/, `Not a number of type ${type}`)
    .transform(Number)
    .refine((value) => value >= min, `Value must be at least ${min}`)
    .refine((value) => value <= max, `Value must be no more than ${max}`)
}
