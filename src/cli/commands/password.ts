import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { hashPassword } from '../../http/password-hash.ts'
import { ROLES } from '../../http/users.ts'
import { type Command, expectNoMore, parseArguments, UsageError } from '../command.ts'

export const passwordCommand: Command = {
  help: `usage: weir password NAME ROLE

Reads a password from standard input (a terminal does not echo it) and prints the line for a users file with its hash. ROLE is
one of ${ROLES.join(', ')}; each role includes the privileges of the ones before it.

  weir password ada admin >> users
  weir registry --data ./d --set authentication.method=BASIC --set weir.authentication.users.file=users`,

  async run(args) {
    const { positionals } = parseArguments(args, { help: { type: 'boolean', short: 'h' } })
    const [name, role, ...more] = positionals
    expectNoMore(more, 'NAME and ROLE')
    if (name === undefined || role === undefined) throw new UsageError('expected NAME and ROLE')
    if (!/^[^\s:#][^:]*$/.test(name)) {
      throw new UsageError(
        `'${name}' is not a valid name: expected one without ':' and '#' that does not begin with a blank`,
      )
    }
    if (!(ROLES as readonly string[]).includes(role)) {
      throw new UsageError(`'${role}' is not a role: expected ${ROLES.join(', ')}`)
    }
    const password = process.stdin.isTTY
      ? await promptPassword(`password for ${name}: `)
      : (await text(process.stdin)).replace(/\r?\n$/, '')
    if (password === '') throw new UsageError('the password is empty')
    process.stdout.write(`${name}: ${await hashPassword(password)}, ${role}\n`)
    return 0
  },
}

/** Asks on the terminal, without echo. */
async function promptPassword(prompt: string): Promise<string> {
  process.stderr.write(prompt)
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silence, terminal: true })
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}
