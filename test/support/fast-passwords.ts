import crypto, { type ScryptOptions, scrypt } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

// A password hash takes 50 ms of CPU time by design. Tests of logins, which need many, use the lowest cost that scrypt
// has; `test/http/password-hash.test.ts` tests the real one.

type Callback = (error: Error | null, hash: Buffer) => void
type Scrypt = (password: string, salt: Buffer, length: number, options: ScryptOptions, callback: Callback) => void

/** All files of a worker share the module. */
const FAST = Symbol.for('weir.test.fast-scrypt')

if (!(FAST in scrypt)) {
  const withOptions = scrypt as Scrypt
  const fast = (password: string, salt: Buffer, length: number, callback: Callback) =>
    withOptions(password, salt, length, { N: 2, r: 1 }, callback)
  crypto.scrypt = Object.assign(fast, { [FAST]: true }) as unknown as typeof scrypt
  syncBuiltinESMExports()
}
