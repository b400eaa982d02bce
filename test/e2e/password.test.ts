import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { Users } from '../../src/http/users.ts'
import { weirCommand } from '../support/cli.ts'

function password(args: readonly string[], input: string) {
  const command = weirCommand('.', ['password', ...args])
  const { status, stdout, stderr } = spawnSync(command.file, command.args, { input, encoding: 'utf8' })
  return { status, stdout, stderr }
}

describe('weir password', () => {
  it('creates a line of a users file with which the user can log in, without showing the password', async () => {
    const { status, stdout, stderr } = password(['ada', 'developer'], 'correct: horse ä\n')
    expect([status, stderr, stdout.includes('horse')]).toEqual([0, '', false])
    const users = Users.fromText(stdout, 'users')
    expect(await users.verify('ada', 'correct: horse ä')).toMatchObject({ name: 'ada', role: 'developer' })
    expect(await users.verify('ada', 'correct: horse')).toBeUndefined()
  })

  it.each([
    [['ada'], 'x', 2, 'expected NAME and ROLE'],
    [['ada', 'boss'], 'x', 2, "'boss' is not a role: expected none, readonly, developer, admin"],
    [['ada', 'admin'], '\n', 2, 'the password is empty'],
    [
      ['a:da', 'admin'],
      'x',
      2,
      "'a:da' is not a valid name: expected one without ':' and '#' that does not begin with a blank",
    ],
  ])('of %j refuses %j', (args, input, exit, sentence) => {
    const { status, stderr } = password(args, input)
    expect([status, stderr]).toEqual([exit, expect.stringContaining(sentence)])
  })
})
