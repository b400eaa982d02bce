import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { EncryptionError } from './encryption-error.ts'

/** The field of the version in `google.crypto.tink.AesGcmKey` and `AesSivKey`. The field of the key differs. */
const VERSION_FIELD = 1
/** The only version of Tink keys. It is the default value, so it is not encoded. */
const VERSION = 0

/** Encodes a Tink key message with `key` in `keyField`. */
export function tinkKeyOf(key: Uint8Array, keyField: number): Buffer {
  return Buffer.from(new BinaryWriter().tag(keyField, WireType.LengthDelimited).bytes(key).finish())
}

/** Returns the key in `keyField` of a Tink key message. Throws `invalid_dek`. */
export function parseTinkKey(message: Uint8Array, keyField: number): Uint8Array {
  let key: Uint8Array = new Uint8Array(0)
  let version = VERSION
  try {
    const reader = new BinaryReader(message)
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag()
      if (field === VERSION_FIELD && type === WireType.Varint) version = reader.uint32()
      else if (field === keyField && type === WireType.LengthDelimited) key = reader.bytes()
      else reader.skip(type, field)
    }
  } catch (cause) {
    throw new EncryptionError('invalid_dek', 'the key material is not a Tink key message', { cause })
  }
  if (version !== VERSION) {
    throw new EncryptionError(
      'invalid_dek',
      `the key material has version ${version}, but only ${VERSION} is supported`,
    )
  }
  return key
}
