import type { Codec } from '../format.ts'
import { SchemaError } from '../schema-error.ts'
import type { AvroSchema } from './avro-schema.ts'
import { avroDecoder } from './decoder.ts'
import type { UnionForm } from './union-form.ts'
import { avroBytes, avroWriter } from './writer.ts'

/**
 * Creates a codec for the Avro binary encoding. Values: a long is a number if that is exact, otherwise a bigint; bytes
 * and fixed are a Buffer; records and maps are objects; a union is null or `{ branch: value }` with the full name of a
 * named type or the type name. Logical types are not converted.
 *
 * With a `reader`, decoded data of `writer` is resolved to the reader's schema: defaults are added, unknown fields
 * omitted. With `unions: 'plain'`, a union value is not wrapped if its branch is unambiguous.
 *
 * Throws a `SchemaError` if the two schemas do not match.
 */
export function avroCodec(writer: AvroSchema, { reader = writer, unions = 'wrapped' }: AvroCodecOptions = {}): Codec {
  const decode = compiled(() => avroDecoder(writer, reader, unions))
  const write = avroWriter(writer, unions)
  return {
    encode: (value) => attempt('the value is not valid for its schema', () => avroBytes(write, value)),
    decode: (bytes) =>
      attempt('the bytes are not valid for their schema', () =>
        decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
      ),
  }
}

export type AvroCodecOptions = { readonly reader?: AvroSchema; readonly unions?: UnionForm }

function compiled<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw new SchemaError(`the schema cannot be compiled: ${(error as Error).message}`, { cause: error })
  }
}

/** Converts other errors, such as that of a value that contains itself. */
function attempt<T>(problem: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof SchemaError && error.message.startsWith(problem)) throw error
    throw new SchemaError(`${problem}: ${(error as Error).message}`, { cause: error })
  }
}
