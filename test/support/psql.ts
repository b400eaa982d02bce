import { readFileSync } from 'node:fs'
import pg from 'pg'

// The part of `psql URL [-At] [-c SQL]…` that the pages use, for machines without PostgreSQL's programs. Without -c it
// executes its standard input.

const [url, ...args] = process.argv.slice(2)
const commands: string[] = []
for (let next = args.shift(); next !== undefined; next = args.shift()) {
  if (next !== '-c' && next !== '-Atc') throw new Error(`psql: the option ${next} is not known: use -c or -Atc`)
  commands.push(args.shift()!)
}
if (commands.length === 0) commands.push(readFileSync(0, 'utf8'))

const client = new pg.Client({ connectionString: url! })
try {
  await client.connect()
  for (const text of commands) {
    const result = await client.query({ text, rowMode: 'array', types: { getTypeParser: () => String } })
    for (const row of result.rows ?? []) console.log(row.map((cell) => cell ?? '').join('|'))
  }
} catch (error) {
  console.error(String(error))
  process.exitCode = 1
} finally {
  await client.end()
}
