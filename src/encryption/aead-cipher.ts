/** Authenticated encryption without associated data. Layouts are those of Tink's RAW key type. */
export type AeadCipher = {
  encrypt(plaintext: Uint8Array): Buffer
  /** Throws where the ciphertext was written with another key or is damaged. */
  decrypt(ciphertext: Uint8Array): Buffer
}
