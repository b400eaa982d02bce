import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, expect, onTestFinished } from 'vitest'
import { type Kafka, startKafka } from '../env/kafka.ts'
import { startPostgres } from '../env/postgres.ts'
import { itOn, real } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { DOC_PAGES, docBlocks } from '../support/doc-commands.ts'
import { createDocShell } from '../support/doc-shell.ts'

const TIMEOUT_MS = 400_000
/** The servers that npm provides have no `psql`. */
const PSQL = join(import.meta.dirname, '../support/psql.ts')

const kafkaJars = await real('kafka')
const postgres = await real('postgres')

/** Not that of other tests: the connectors of pages write to topics such as `orders`. */
let kafka: Promise<Kafka> | undefined

afterAll(async () => (await kafka)?.stop())

for (const page of DOC_PAGES.local.pages) {
  itOn(
    [...(hasNeed(page, 'kafka') ? [kafkaJars] : []), ...(hasNeed(page, 'postgres') ? [postgres] : [])],
    `${page}: every command runs and prints the shown output`,
    () => follow(page),
    TIMEOUT_MS,
  )
}

function hasNeed(page: string, need: string): boolean {
  return docBlocks(page).some((block) => 'needs' in block && block.needs === need)
}

/** Executes a page from top to bottom, as a reader in a checkout would. */
async function follow(page: string): Promise<void> {
  const { env, replacements } = hasNeed(page, 'postgres') ? await startDocPostgres() : NO_POSTGRES
  const shell = await createDocShell(page, env, { ...(hasNeed(page, 'kafka') ? await kafkaOf() : {}), ...replacements })
  onTestFinished(() => shell.kill())
  let printed: string | undefined
  for (const block of docBlocks(page)) {
    switch (block.kind) {
      case 'file':
        shell.write(block.name, block.text)
        break
      case 'run':
        printed = (await shell.run(block)).stdout
        break
      case 'start':
        await shell.start(block)
        break
      case 'output':
        if (block.text !== undefined) expect(printed, `${page}:${block.line}`).toMatch(patternOf(block.text))
    }
  }
  await shell.stop()
}

const NO_POSTGRES = { env: {}, replacements: {} }

/** A server of its own in place of the one of the pages, and `psql` on PATH. */
async function startDocPostgres() {
  const server = await startPostgres({ wal_level: 'logical' })
  onTestFinished(() => server.stop())
  const { username, password } = new URL(server.url)
  const tools = partDirectory('psql')
  const command = `exec ${JSON.stringify(process.execPath)} ${JSON.stringify(PSQL)} "$@"`
  writeFileSync(join(tools, 'psql'), `#!/bin/sh\n${command}\n`, { mode: 0o755 })
  return {
    env: { PATH: `${tools}:${dirname(process.execPath)}:${process.env['PATH']}` },
    replacements: {
      'postgres:postgres@': `${username}:${password}@`,
      '127.0.0.1:5432': `127.0.0.1:${server.port}`,
      '"5432"': `"${server.port}"`,
    },
  }
}

/** A Kafka in place of the pages'. */
async function kafkaOf() {
  kafka ??= startKafka()
  return { 'kafka:9092': (await kafka).bootstrap }
}

/** The shown text; `…` stands for anything within a line. */
function patternOf(text: string): RegExp {
  return new RegExp(`^${text.split('…').map(RegExp.escape).join('.*')}$`)
}
