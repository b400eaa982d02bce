import { expect, onTestFinished } from 'vitest'
import { itOn, real } from '../env/real.ts'
import { DOC_PAGES, docBlocks } from '../support/doc-commands.ts'
import { createDocShell } from '../support/doc-shell.ts'

const TIMEOUT_MS = 400_000

const kafka = await real('kafka')

for (const page of DOC_PAGES.local.pages) {
  const needsKafka = docBlocks(page).some((block) => 'needs' in block && block.needs === 'kafka')
  itOn(
    needsKafka ? [kafka] : [],
    `${page}: every command runs and prints the shown output`,
    () => follow(page),
    TIMEOUT_MS,
  )
}

/** Executes a page from top to bottom, as a reader in a checkout would. */
async function follow(page: string): Promise<void> {
  const shell = await createDocShell(page, {}, namesOnKafka())
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

/** The Kafka of the tests in place of the pages', and names of topics and groups that no other test uses. */
function namesOnKafka(): Readonly<Record<string, string>> {
  if (!('address' in kafka)) return {}
  const id = `docs-${process.pid}`
  return { 'kafka:9092': kafka.address.bootstrap, _schemas: `_schemas-${id}`, 'connect-cluster': `connect-${id}` }
}

/** The shown text; `…` stands for anything within a line. */
function patternOf(text: string): RegExp {
  return new RegExp(`^${text.split('…').map(RegExp.escape).join('.*')}$`)
}
