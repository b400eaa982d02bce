import type { AvroSchema, AvroUnion } from '../../formats/avro/avro-schema.ts'
import { type Json, printJson } from '../../formats/json-text.ts'
import { z } from '../../sdk/index.ts'

/** The schema member that describes the values to generate. */
export const ARGUMENTS = 'arg.properties'

const number = z.number().optional()
const count = z.number().int().min(0)
const iteration = z.strictObject({
  start: z.union([z.number(), z.boolean()]),
  restart: number,
  step: number,
  initial: number,
})
const text = z.strictObject({
  options: z.array(z.string()).min(1).optional(),
  regex: z.string().optional(),
  length: z.union([count, z.strictObject({ min: count.optional(), max: count.optional() })]).optional(),
  iteration: iteration.optional(),
  prefix: z.string().optional(),
  suffix: z.string().optional(),
})
const shape = z.strictObject({
  ...text.shape,
  options: z.array(z.unknown()).min(1).optional(),
  range: z.strictObject({ min: number, max: number }).optional(),
  odds: z.number().min(0).max(1).optional(),
  keys: text.optional(),
})

/** Arguments for text: a value, or the keys of a map. */
export type TextArguments = z.infer<typeof text>
export type Iteration = z.infer<typeof iteration>
/** Arguments for values. `options` is kept as parsed JSON, so that numbers keep all digits. */
export type Arguments = Omit<z.infer<typeof shape>, 'options'> & { readonly options?: readonly Json[] }

const NUMBER = ['options', 'range', 'iteration'] as const
const PERMITTED: Readonly<Record<Exclude<AvroSchema, AvroUnion>['type'], readonly (keyof Arguments)[]>> = {
  null: ['options'],
  boolean: ['options', 'iteration', 'odds'],
  int: NUMBER,
  long: NUMBER,
  float: NUMBER,
  double: NUMBER,
  string: ['options', 'regex', 'length', 'iteration', 'prefix', 'suffix'],
  bytes: ['options', 'length', 'range'],
  fixed: ['options', 'range'],
  enum: ['options'],
  array: ['options', 'length'],
  map: ['options', 'length', 'keys'],
  record: ['options'],
}

/** Parses the arguments of a schema. Throws an `Error` if they are not valid. */
export function argumentsOf({ type, props }: Exclude<AvroSchema, AvroUnion>): Arguments {
  const given = props.get(ARGUMENTS)
  if (given === undefined) return {}
  const parsed = shape.safeParse(JSON.parse(printJson(given)))
  if (!parsed.success) {
    const [{ path, message }] = parsed.error.issues as [z.core.$ZodIssue]
    throw new Error(`${[ARGUMENTS, ...path].join('.')}: ${message}`)
  }
  const permitted = PERMITTED[type]
  const unknown = Object.keys(parsed.data).find((name) => !(permitted as readonly string[]).includes(name))
  if (unknown !== undefined) {
    throw new Error(`${ARGUMENTS}.${unknown} is not supported for ${type}: expected ${permitted.join(', ')}`)
  }
  const { options, ...others } = parsed.data
  return options === undefined
    ? others
    : { ...others, options: (given as ReadonlyMap<string, Json>).get('options') as readonly Json[] }
}
