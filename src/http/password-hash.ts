import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

export type PasswordHash = { readonly salt: Buffer; readonly hash: Buffer }

const scryptAsync = promisify(scrypt) as (password: string, salt: Buffer, length: number) => Promise<Buffer>
const HASH_BYTES = 32
/** The salt for a user that does not exist. */
const NO_SALT = randomBytes(16)

/** The entry of a password in a users file. */
export async function hashPassword(password: string, salt: Buffer = randomBytes(16)): Promise<string> {
  return `scrypt$${salt.toString('base64')}$${(await scryptAsync(password, salt, HASH_BYTES)).toString('base64')}`
}

/** Whether the password has this hash. Takes equally long without a hash, for a user that does not exist. */
export async function isPasswordOf(known: PasswordHash | undefined, password: string): Promise<boolean> {
  const hash = await scryptAsync(password, known?.salt ?? NO_SALT, HASH_BYTES)
  return known !== undefined && known.hash.length === HASH_BYTES && timingSafeEqual(hash, known.hash)
}
