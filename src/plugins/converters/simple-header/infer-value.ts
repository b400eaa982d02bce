import {
  BOOLEAN,
  DATE,
  decimal,
  decimalFromText,
  FLOAT32,
  FLOAT64,
  INT8,
  INT16,
  INT32,
  INT64,
  int64,
  powerOfTen,
  rescale,
  type Schema,
  type SchemaAndValue,
  STRING,
  TIME,
  TIMESTAMP,
} from '../../../sdk/index.ts'

// Parses text like Java's Values.parseString. Text after a complete value is ignored: `1,2` is 1. Quotes are recognized
// only inside arrays and maps.

/** Returns the value inferred from the text, or the text itself as a string. */
export function inferValue(text: string): SchemaAndValue {
  if (text.trim() === 'null') return NULL
  try {
    return new Inference(text).outermost() ?? { schema: STRING, value: text }
  } catch (error) {
    if (error instanceof NoSuchValue) return { schema: STRING, value: text }
    throw error
  }
}

const NULL: SchemaAndValue = { schema: null, value: null }
const DEPTH_MAX = 100

/** Thrown if text that begins like an array or a map does not continue as one. */
class NoSuchValue extends Error {}

// Each value must be followed by optional blanks and the end of the text or a delimiter.
const TIMESTAMP_TEXT = /(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})\.(\d{3})Z(?=\s*(?:$|["[\]{},:]))/y
const DATE_TEXT = /(\d{4})-(\d{2})-(\d{2})(?=\s*(?:$|["[\]{},:]))/y
const TIME_TEXT = /(\d{2}):(\d{2}):(\d{2})\.(\d{3})Z(?=\s*(?:$|["[\]{},:]))/y
const NUMBER_TEXT = /[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?=\s*(?:$|["[\]{},:]))/y
const WORD_TEXT = /(?:true|false|null)(?=\s*(?:$|["[\]{},:]))/y
const QUOTED_TEXT = /"((?:[^"\\]|\\.)*)"/sy
const BLANKS = /\s*/y

class Inference {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  outermost(): SchemaAndValue | undefined {
    this.#match(BLANKS)
    if (this.#at === this.#text.length) return undefined
    const word = this.#text.trim()
    if (word === 'true' || word === 'false') return { schema: BOOLEAN, value: word === 'true' }
    return this.#scalar() ?? this.#nested(0)
  }

  #scalar(): SchemaAndValue | undefined {
    const instant = this.#match(TIMESTAMP_TEXT)
    if (instant) return { schema: TIMESTAMP, value: new Date(dayMs(instant) + timeOfDayMs(instant.slice(3))) }
    const date = this.#match(DATE_TEXT)
    if (date) return { schema: DATE, value: new Date(dayMs(date)) }
    const time = this.#match(TIME_TEXT)
    if (time) return { schema: TIME, value: timeOfDayMs(time) }
    const number = this.#match(NUMBER_TEXT)
    return number ? numberOf(number[0]) : undefined
  }

  #nested(depth: number): SchemaAndValue | undefined {
    if (depth > DEPTH_MAX) throw new NoSuchValue()
    if (this.#take('[')) return this.#array(depth)
    return this.#take('{') ? this.#map(depth) : undefined
  }

  #array(depth: number): SchemaAndValue {
    const items: SchemaAndValue[] = []
    while (!this.#take(']')) {
      if (items.length > 0 && !this.#take(',')) throw new NoSuchValue()
      if (items.length > 0 && this.#take(']')) break
      items.push(this.#element(depth))
    }
    const itemSchema = commonSchema(items)
    return {
      schema: { type: 'array', ...(itemSchema && { items: itemSchema }) },
      value: items.map(({ value }) => valueAs(itemSchema, value)),
    }
  }

  #map(depth: number): SchemaAndValue {
    const keys: SchemaAndValue[] = []
    const values: SchemaAndValue[] = []
    while (!this.#take('}')) {
      if (keys.length > 0 && !this.#take(',')) throw new NoSuchValue()
      if (keys.length > 0 && this.#take('}')) break
      const key = this.#element(depth)
      if (key.value === null || !this.#take(':')) throw new NoSuchValue()
      keys.push(key)
      values.push(this.#element(depth))
    }
    const keySchema = commonSchema(keys)
    const itemSchema = commonSchema(values)
    return {
      // As in Java, a map whose keys have no common type has no schema for its values either.
      schema: { type: 'map', ...(keySchema && { keys: keySchema, ...(itemSchema && { items: itemSchema }) }) },
      value: new Map(
        keys.map((key, index) => [valueAs(keySchema, key.value), valueAs(itemSchema, values[index]?.value)]),
      ),
    }
  }

  #element(depth: number): SchemaAndValue {
    this.#match(BLANKS)
    const word = this.#match(WORD_TEXT)?.[0]
    if (word !== undefined) return word === 'null' ? NULL : { schema: BOOLEAN, value: word === 'true' }
    const quoted = this.#match(QUOTED_TEXT)
    if (quoted) return quotedValue(quoted[1]!)
    const found = this.#scalar() ?? this.#nested(depth + 1)
    if (found === undefined) throw new NoSuchValue()
    return found
  }

  #take(character: string): boolean {
    this.#match(BLANKS)
    if (this.#text[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text) ?? undefined
    if (found) this.#at += found[0].length
    return found
  }
}

/** Dates and times are recognized in quotes too. Escapes are kept. */
function quotedValue(text: string): SchemaAndValue {
  const inner = /^\d{4}-|^\d{2}:/.test(text) ? inferValue(text) : undefined
  return inner?.schema?.name === undefined ? { schema: STRING, value: text } : inner
}

/** As in Java, month 13 is January of the next year. `Date.UTC` would interpret the years 0 to 99 as 1900 to 1999. */
function dayMs([, year, month, day]: readonly string[]): number {
  return new Date(0).setUTCFullYear(Number(year), Number(month) - 1, Number(day))
}

function timeOfDayMs([, hours, minutes, seconds, ms]: readonly string[]): number {
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(ms)
}

/** An integer becomes the smallest type that holds it; other numbers become a float if its range suffices. */
function numberOf(text: string): SchemaAndValue {
  const exponent = Math.abs(Number(/[eE](.*)$/.exec(text)?.[1] ?? 0))
  // Beyond the range of int64 and double; expanding the digits would only cost memory.
  if (exponent > 1000) throw new NoSuchValue()
  const exact = decimalFromText(text)
  const whole = wholeOf(exact)
  if (whole !== undefined && BigInt.asIntN(64, whole) === whole) {
    return { schema: INTS.find(({ bits }) => BigInt.asIntN(bits, whole) === whole)!.schema, value: int64(whole) }
  }
  const double = Number(text)
  if (exact.scale !== 0 && Number.isFinite(Math.fround(double))) return { schema: FLOAT32, value: Math.fround(double) }
  if (exact.scale !== 0 && Number.isFinite(double)) return { schema: FLOAT64, value: double }
  return { schema: decimal(exact.scale), value: exact }
}

const INTS = [
  { bits: 8, schema: INT8 },
  { bits: 16, schema: INT16 },
  { bits: 32, schema: INT32 },
  { bits: 64, schema: INT64 },
] as const

function wholeOf(exact: ReturnType<typeof decimalFromText>): bigint | undefined {
  if (exact.scale > 0 && exact.unscaled % powerOfTen(exact.scale) !== 0n) return undefined
  return rescale(exact, 0).unscaled
}

/** Returns the type that all values can be converted to, or undefined if there is none. */
function commonSchema(values: readonly SchemaAndValue[]): Schema | undefined {
  const schemas = values.map(({ schema }) => schema).filter((schema) => schema !== null)
  // A list of only nulls has no type. If nulls are mixed with other values, Java treats the whole text as a string.
  if (schemas.length > 0 && schemas.length < values.length) throw new NoSuchValue()
  const [first, ...others] = schemas
  return others.reduce<Schema | undefined>((soFar, next) => soFar && commonOf(soFar, next), first)
}

/** Only integers beyond 2^53 change when they are converted to a float. */
function valueAs(schema: Schema | undefined, value: unknown): unknown {
  return typeof value === 'bigint' && schema?.type.startsWith('float') ? Number(value) : value
}

const WIDENING: readonly Schema['type'][] = ['int8', 'int16', 'int32', 'int64', 'float32', 'float64']

function commonOf(a: Schema, b: Schema): Schema | undefined {
  if (a.name !== b.name) return undefined
  if (a.type === b.type) return b
  const [wideA, wideB] = [WIDENING.indexOf(a.type), WIDENING.indexOf(b.type)]
  if (wideA < 0 || wideB < 0) return undefined
  return wideA > wideB ? a : b
}
