import type { Codec, SchemaSource } from '../format.ts'
import { SchemaError } from '../schema-error.ts'
import { compileJsonSchema } from './meta-schema.ts'

/** `check` throws a `SchemaError` for a value that is not valid for the schema. Without `validate` it does nothing. */
export type JsonCodec = Codec & { readonly check: (value: unknown) => void }

/**
 * Creates a codec for JSON text in UTF-8. With `validate`, the schema is compiled, and `encode` and `decode` throw a
 * `SchemaError` for values that are not valid for it.
 */
export function jsonCodec(source: SchemaSource, { validate }: { readonly validate: boolean }): JsonCodec {
  const check = validate ? compileJsonSchema(source) : () => undefined
  const checked = (value: unknown, what: string): void => {
    const problem = check(value)
    if (problem !== undefined) throw new SchemaError(`${what}: ${problem}`)
  }
  return {
    encode(value) {
      const text = textOf(value)
      // Validates the value as a reader sees it; a date, for example, becomes a string.
      if (validate) checked(JSON.parse(text), 'the value is not valid for its schema')
      return Buffer.from(text, 'utf8')
    },
    decode(bytes) {
      const value = parsedText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
      checked(value, 'the data is not valid for its schema')
      return value
    },
    check: (value) => checked(value, 'the data is not valid for its schema'),
  }
}

function textOf(value: unknown): string {
  try {
    const text = JSON.stringify(value) as string | undefined
    if (text !== undefined) return text
  } catch (error) {
    throw new SchemaError(`the value cannot be serialized as JSON: ${(error as Error).message}`, { cause: error })
  }
  throw new SchemaError(`the value cannot be serialized as JSON: it is ${typeof value}`)
}

function parsedText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SchemaError(`the data is not JSON: ${(error as Error).message}`, { cause: error })
  }
}
