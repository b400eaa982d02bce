/** Authenticated encryption without associated data. Layouts are those of Tink's RAW key type. */
export type AeadCipher = {
  encrypt(plaintext: Uint8Array): Buffer
  /** Throws if the ciphertext was encrypted with another key or is damaged. */
  decrypt(ciphertext: Uint8Array): Buffer
}
