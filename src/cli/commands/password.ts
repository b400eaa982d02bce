import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { hashPassword, ROLES } from '../../http/users.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'

export const passwordCommand: Command = {
  help: `usage: weir password NAME ROLE

Reads a password from standard input (without showing it on a terminal) and prints the line of a users file that lets
NAME in with it. ROLE is one of ${ROLES.join(', ')}; each may do what the ones before it may.

  weir password ada admin >> users
  weir registry --data ./d --set authentication.method=BASIC --set weir.authentication.users.file=users`,

  async run(args) {
    const { positionals } = parseArguments(args, { help: { type: 'boolean', short: 'h' } })
    const [name, role, ...more] = positionals
    if (name === undefined || role === undefined || more.length > 0) throw new UsageError('expected NAME and ROLE')
    if (!/^[^\s:#][^:]*$/.test(name)) {
      throw new UsageError(`'${name}' is no name: expected one without ':' and '#' that begins with no blank`)
    }
    if (!(ROLES as readonly string[]).includes(role)) {
      throw new UsageError(`'${role}' is no role: expected ${ROLES.join(', ')}`)
    }
    const word = process.stdin.isTTY
      ? await promptPassword(`password of ${name}: `)
      : (await text(process.stdin)).replace(/\r?\n$/, '')
    if (word === '') throw new UsageError('the password is empty')
    process.stdout.write(`${name}: ${await hashPassword(word)}, ${role}\n`)
    return 0
  },
}

/** Asks at the terminal; what is typed is not shown. */
async function promptPassword(question: string): Promise<string> {
  process.stderr.write(question)
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silence, terminal: true })
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}
