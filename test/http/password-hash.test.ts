import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const MODULE = pathToFileURL('src/http/password-hash.ts').href

it('a password is hashed by scrypt with N=16384, r=8 and p=1', { tags: ['slow'] }, async () => {
  // In another process, because the tests of this one use a lower cost.
  const program = `import { hashPassword } from '${MODULE}'
console.log(await hashPassword('correct horse', Buffer.alloc(16, 7)))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  const slow = '5TRHB2ApnfGdNDl3bNPaEguAozb+v0jyBBXcGVyselY='
  expect(stdout.trim()).toBe(`scrypt$BwcHBwcHBwcHBwcHBwcHBw==$${slow}`)
})
