import type { AvroArray, AvroFixed, AvroPrimitive, AvroSchema, AvroUnion } from '../../formats/avro/avro-schema.ts'
import { defaultFits } from '../../formats/avro/default-value.ts'
import { defineMember } from '../../formats/define-member.ts'
import { type Json, JsonNumber, printJson } from '../../formats/json-text.ts'
import { bigintToBytes, int64 } from '../../sdk/index.ts'
import { connectForm, fromAvro } from '../avro/from-avro.ts'
import { AVRO_PROP, AVRO_UNION, isMapEntry, unionFieldName } from '../avro/names.ts'
import { wireDefault } from '../avro/wire-default.ts'
import { type Arguments, argumentsOf, type Iteration, type TextArguments } from './arg-properties.ts'
import { matchingTextGenerator } from './matching-text.ts'
import type { Random } from './random.ts'

/** Generates the value of the record with this number, counted from 0, as a Connect value. */
export type Generate = (random: Random, index: number) => unknown

/**
 * Creates a generator for a schema and its `arg.properties`. Iterations depend on the record number, so any record can
 * be generated without the records before it. Throws an `Error` that names the schema location if arguments are not
 * valid.
 */
export function avroGenerator(avro: AvroSchema, location: string): Generate {
  if (avro.type === 'union') return anyOf(avro, location)
  const { options, ...others } = atLocation(location, () => argumentsOf(avro))
  if (options !== undefined) {
    const toConnect = connectForm(avro, fromAvro(avro, { metadata: false }).read)
    const values = options.map((option) => toConnect(atLocation(location, () => optionOf(avro, option))))
    return (random) => random.pick(values)
  }
  return atLocation(location, () => ofType(avro, others, location))
}

function anyOf(union: AvroUnion, location: string): Generate {
  const isStruct = fromAvro(union, { metadata: false }).schema.name === AVRO_UNION
  const each = union.branches.map((branch): Generate => {
    if (branch.type === 'null') return () => null
    const [name, generate] = [unionFieldName(branch), avroGenerator(branch, location)]
    return isStruct ? (random, index) => ({ [name]: generate(random, index) }) : generate
  })
  return (random, index) => random.pick(each)(random, index)
}

function ofType(avro: Exclude<AvroSchema, AvroUnion>, own: Arguments, location: string): Generate {
  switch (avro.type) {
    case 'record': {
      const names = avro.fields.map(({ name }) => name)
      return recordGenerator(
        names,
        avro.fields.map(({ name, schema }) => avroGenerator(schema, `${location}.${name}`)),
      )
    }
    case 'enum':
      return (random) => random.pick(avro.symbols)
    case 'array':
      return arrays(avro, own, location)
    case 'map': {
      const [key, value, count] = [texts(own.keys ?? {}), avroGenerator(avro.values, `${location}{}`), lengthOf(own)]
      return (random, index) =>
        new Map(Array.from({ length: count(random) }, () => [key(random, index), value(random, index)]))
    }
    case 'null':
      return () => null
    default:
      return scalars(avro, own)
  }
}

/** Number of generated functions. */
let generated = 0
/** Maximum number of fields of a record with a generated function: V8 does not optimize very large functions. */
const GENERATED_FIELDS_MAX = 500

/**
 * Each record schema has a constructor of its own, so that V8 compiles one shape of objects into it. Its source contains
 * numbers only; names and generators are its arguments. The number in its name prevents V8 from reusing the code of
 * another schema with as many fields. The values are its parameters, because V8 then compiles it into its caller.
 */
function recordGenerator(names: readonly string[], generators: readonly Generate[]): Generate {
  if (names.length > GENERATED_FIELDS_MAX || names.some((name) => name in Object.prototype))
    return anyRecordGenerator(names, generators)
  const values = names.map((_, at) => `value${at}`)
  generated += 1
  const create = new Function(
    'prototype',
    ...names.flatMap((_, at) => [`name${at}`, `generate${at}`]),
    `function Record${generated}(${values.join()}) {
      ${values.map((value, at) => `this[name${at}] = ${value}`).join('\n')}
    }
    Record${generated}.prototype = prototype
    return function record${generated}(random, index) {
      return new Record${generated}(${values.map((_, at) => `generate${at}(random, index)`).join()})
    }`,
  )
  return create(Object.prototype, ...names.flatMap((name, at) => [name, generators[at]])) as Generate
}

function anyRecordGenerator(names: readonly string[], generators: readonly Generate[]): Generate {
  const template: Readonly<Record<string, unknown>> = Object.fromEntries(names.map((name) => [name, null]))
  return (random, index) => {
    const record = { ...template }
    for (let at = 0; at < names.length; at++) defineMember(record, names[at]!, generators[at]!(random, index))
    return record
  }
}

type ScalarSchema = AvroPrimitive | AvroFixed

function scalars(avro: ScalarSchema, own: Arguments): Generate {
  const generate = wireScalars(avro, own)
  if (!avro.props.has('logicalType') && !avro.props.has(AVRO_PROP.type)) return generate
  const toConnect = connectForm(avro, fromAvro(avro, { metadata: false }).read)
  return (random, index) => toConnect(generate(random, index))
}

/** In the form that the Avro codec uses. */
function wireScalars(avro: ScalarSchema, own: Arguments): Generate {
  switch (avro.type) {
    case 'boolean':
      return booleans(own)
    case 'string':
      return texts(own as TextArguments)
    case 'bytes':
    case 'fixed':
      return avro.props.get('logicalType') === 'decimal' ? decimals(avro, own) : bytes(avro, own)
    default:
      return numbers(avro.type as NumberType, own, avro.props.get('logicalType'))
  }
}

function arrays({ items }: AvroArray, own: Arguments, location: string): Generate {
  const [item, count] = [avroGenerator(items, `${location}[]`), lengthOf(own)]
  const list = (random: Random, index: number) => Array.from({ length: count(random) }, () => item(random, index))
  if (!isMapEntry(items)) return list
  return (random, index) => {
    const entries = list(random, index) as readonly { readonly key: unknown; readonly value: unknown }[]
    return new Map(entries.map(({ key, value }) => [key, value]))
  }
}

function booleans({ iteration, odds = 0.5 }: Arguments): Generate {
  if (iteration === undefined) return (random) => random.fraction() < odds
  const { start } = iteration
  if (typeof start !== 'boolean') throw new Error("'start' of the iteration of a boolean must be true or false")
  return (_random, index) => (index % 2 === 0) === start
}

/** Default upper limits for logical types, so that values are valid dates and times. */
const TIMES: Readonly<Record<string, number>> = {
  date: 25_000,
  'time-millis': 86_400_000,
  'timestamp-millis': 2 ** 41,
}

type NumberType = 'int' | 'long' | 'float' | 'double'

function numbers(type: NumberType, { range, iteration }: Arguments, logical: Json | undefined): Generate {
  const isWhole = type === 'int' || type === 'long'
  const finish = FINISH[type]
  if (iteration !== undefined) {
    const at = counter(iteration)
    if (!isWhole) return (_random, index) => finish(at(index))
    return (_random, index) => {
      const value = at(index)
      return Number.isSafeInteger(value) ? value : finish(value)
    }
  }
  const { min, max } = range ?? timeRange(logical) ?? (isWhole ? {} : { min: 0, max: 1 })
  if (type === 'long' && min === undefined && max === undefined) {
    return (random) => int64(BigInt.asIntN(64, (BigInt(random.below(2 ** 32)) << 32n) | BigInt(random.below(2 ** 32))))
  }
  const { min: lowest, max: highest } = BOUNDS[type]
  const limits = { min: Math.max(min ?? lowest, lowest), max: Math.min(max ?? highest, highest) }
  const draw = between(limits, isWhole)
  if (type === 'double') return draw
  if (isWhole && Number.isSafeInteger(limits.min) && Number.isSafeInteger(limits.max)) return draw
  return (random) => finish(draw(random))
}

function timeRange(logical: Json | undefined): Arguments['range'] {
  const max = typeof logical === 'string' ? TIMES[logical] : undefined
  return max === undefined ? undefined : { min: 0, max }
}

const BOUNDS = {
  int: { min: -(2 ** 31), max: 2 ** 31 },
  long: { min: -(2 ** 63), max: 2 ** 63 },
  float: { min: -3e38, max: 3e38 },
  // The difference between the limits must not overflow a double.
  double: { min: -8e307, max: 8e307 },
} as const

const FINISH: Readonly<Record<NumberType, (value: number) => unknown>> = {
  int: Math.floor,
  long: (value) => (Number.isSafeInteger(Math.floor(value)) ? Math.floor(value) : int64(BigInt(Math.floor(value)))),
  float: Math.fround,
  double: (value) => value,
}

type Limits = { readonly min: number; readonly max: number }

/** Draws a number from `min` (inclusive) to `max` (exclusive); with `isWhole`, an integer if `min` is one. */
function between({ min, max }: Limits, isWhole: boolean): (random: Random) => number {
  if (min >= max) throw new Error(`the range from ${min} (inclusive) to ${max} (exclusive) is empty`)
  const length = max - min
  if (!isWhole || !Number.isInteger(min)) return (random) => min + random.fraction() * length
  if (length <= 2 ** 32) return (random) => min + random.below(length)
  return (random) => Math.floor(min + random.fraction() * length)
}

function counter({ start, restart, step, initial }: Iteration): (index: number) => number {
  if (typeof start !== 'number') throw new Error("'start' of the iteration must be a number")
  const first = initial ?? start
  const by = step ?? (restart !== undefined && restart < start ? -1 : 1)
  if (restart === undefined) return (index) => first + index * by
  const length = restart - start
  if (length === 0 || by === 0 || Math.sign(length) !== Math.sign(by)) {
    throw new Error(`an iteration from ${start} with step ${by} never reaches 'restart' ${restart}`)
  }
  return (index) => start + ((first - start + index * by) % length)
}

type BytesSchema = AvroPrimitive | AvroFixed

function decimals(avro: BytesSchema, { range }: Arguments): Generate {
  const member = (name: string) => {
    const json = avro.props.get(name)
    return json instanceof JsonNumber ? json.value : undefined
  }
  const unit = 10 ** (member('scale') ?? 0)
  const bound = Math.min(10 ** (member('precision') ?? 9), 2 ** 53)
  const max = range?.max === undefined ? bound : Math.ceil(range.max * unit)
  const draw = between({ min: Math.ceil((range?.min ?? 0) * unit), max }, true)
  return (random) => {
    const unscaled = BigInt(Math.floor(draw(random)))
    const packed = bigintToBytes(unscaled)
    if (avro.type !== 'fixed') return packed
    return Buffer.concat([Buffer.alloc(Math.max(0, avro.size - packed.length), unscaled < 0n ? 0xff : 0), packed])
  }
}

function bytes(avro: BytesSchema, own: Arguments): Generate {
  if (own.range !== undefined) throw new Error("'range' is supported for decimals only")
  const count = avro.type === 'fixed' ? () => avro.size : lengthOf(own)
  return (random) => Buffer.from(Array.from({ length: count(random) }, () => random.below(256)))
}

const LETTERS = matchingTextGenerator('[a-z]')
/** Maximum number of attempts to generate text of the required length. */
const ATTEMPTS_MAX = 1_000

function texts(own: TextArguments): Generate {
  const { prefix = '', suffix = '', options } = own
  if (options !== undefined) {
    const texts = options.map((option) => `${prefix}${option}${suffix}`)
    return (random) => random.pick(texts)
  }
  const inner = innerTexts(own)
  if (prefix === '' && suffix === '') return inner
  return (random, index) => `${prefix}${inner(random, index)}${suffix}`
}

function innerTexts(own: Omit<TextArguments, 'options'>): (random: Random, index: number) => string {
  const { iteration, regex, length } = own
  if (iteration !== undefined) {
    const at = counter(iteration)
    return (_random, index) => String(at(index))
  }
  if (regex === undefined) {
    const count = lengthOf(own)
    return (random) => Array.from({ length: count(random) }, () => LETTERS(random)).join('')
  }
  const make = matchingTextGenerator(regex)
  if (length === undefined) return make
  // A single number is the minimum length.
  const { min = 0, max = Number.POSITIVE_INFINITY } = typeof length === 'number' ? { min: length } : length
  return (random) => {
    for (let turn = 0; turn < ATTEMPTS_MAX; turn++) {
      const text = make(random)
      if (text.length >= min && text.length < max) return text
    }
    throw new Error(`none of ${ATTEMPTS_MAX} texts that match ${regex} has the required 'length'`)
  }
}

function lengthOf({ length = {} }: Pick<TextArguments, 'length'>): (random: Random) => number {
  if (typeof length === 'number') return () => length
  const { min = length.max === undefined ? 8 : 0, max = min + 8 } = length
  if (min >= max) throw new Error(`the length from ${min} (inclusive) to ${max} (exclusive) is empty`)
  return (random) => min + random.below(max - min)
}

function optionOf(avro: Exclude<AvroSchema, AvroUnion>, option: Json): unknown {
  const isSymbol = avro.type !== 'enum' || (avro.symbols as readonly unknown[]).includes(option)
  if (!defaultFits(avro, option, new Set()) || !isSymbol)
    throw new Error(`the option ${printJson(option)} is not a valid ${avro.type}`)
  // As in the original, bytes are written in base64.
  return avro.type === 'bytes' ? Buffer.from(option as string, 'base64') : wireDefault(avro, option)
}

/** Adds the schema location to an error. */
function atLocation<Value>(location: string, make: () => Value): Value {
  try {
    return make()
  } catch (error) {
    if (error instanceof LocatedError) throw error
    throw new LocatedError(`${location}: ${(error as Error).message}`, { cause: error })
  }
}

class LocatedError extends Error {}
