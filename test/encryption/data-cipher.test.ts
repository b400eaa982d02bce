import { describe, expect, it } from 'vitest'
import { createDataCipher, DEK_ALGORITHMS, generateDek } from '../../src/encryption/data-cipher.ts'
import golden from './tink.golden.json' with { type: 'json' }

const hex = (text: string) => Buffer.from(text, 'hex')

describe.each(DEK_ALGORITHMS)('%s', (algorithm) => {
  const recorded = golden.algorithms[algorithm]
  const cipher = createDataCipher(algorithm, hex(recorded.dek))

  it('decrypts what Tink encrypted', () => {
    expect(cipher.decrypt(hex(recorded.ciphertext)).toString()).toBe(golden.plaintext)
    expect(cipher.decrypt(hex(recorded.empty))).toEqual(Buffer.alloc(0))
  })

  it('generates keys in the format of Tink', () => {
    const key = generateDek(algorithm)
    expect(key).toHaveLength(hex(recorded.dek).length)
    expect(key.subarray(0, 2)).toEqual(hex(recorded.dek).subarray(0, 2))
    expect(generateDek(algorithm)).not.toEqual(key)
  })

  it('decrypts its own ciphertexts of any length', () => {
    const fresh = createDataCipher(algorithm, generateDek(algorithm))
    for (const length of [0, 1, 15, 16, 17, 31, 32, 33, 5_000]) {
      const plaintext = Buffer.alloc(length, 7)
      const ciphertext = fresh.encrypt(plaintext)
      if (length > 8) expect(ciphertext.includes(plaintext)).toBe(false)
      expect(fresh.decrypt(ciphertext)).toEqual(plaintext)
    }
  })

  it('rejects a ciphertext that is changed, truncated or encrypted with another key', () => {
    const ciphertext = cipher.encrypt(Buffer.from('two pieces'))
    const wrong = [
      ...Array.from(ciphertext, (byte, at) => {
        const changed = Buffer.from(ciphertext)
        changed[at] = byte ^ 1
        return changed
      }),
      ...Array.from(ciphertext, (_, length) => ciphertext.subarray(0, length)),
      createDataCipher(algorithm, generateDek(algorithm)).encrypt(Buffer.from('two pieces')),
    ]
    for (const bytes of wrong) {
      expect(() => cipher.decrypt(bytes)).toThrow(expect.objectContaining({ code: 'decryption_failed' }))
    }
  })

  it('rejects key material that is not a key of the algorithm', () => {
    const other = DEK_ALGORITHMS.find((name) => name !== algorithm)!
    const version1 = Buffer.concat([hex('0801'), hex(recorded.dek)])
    const wrong = [
      Buffer.alloc(0),
      hex('ff'),
      hex('00'),
      hex(golden.algorithms[other].dek),
      version1,
      hex(recorded.dek).subarray(0, -1),
    ]
    for (const dek of wrong) {
      expect(() => createDataCipher(algorithm, dek)).toThrow(expect.objectContaining({ code: 'invalid_dek' }))
    }
  })
})

it('encrypts deterministically with AES256_SIV only, with the same bytes as Tink', () => {
  for (const algorithm of DEK_ALGORITHMS) {
    const { dek, ciphertext } = golden.algorithms[algorithm]
    const again = createDataCipher(algorithm, hex(dek)).encrypt(Buffer.from(golden.plaintext)).toString('hex')
    expect(again === ciphertext).toBe(algorithm === 'AES256_SIV')
  }
})
