import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { COMMAND_GROUPS, COMMANDS } from '../../src/cli/command-list.ts'

const PAGE = join(import.meta.dirname, '../../docs/commands.md')
const PLACE = /(?<=<!-- commands -->\n)[\s\S]*(?=<!-- \/commands -->)/

it('docs/commands.md lists the commands of weir --help', async () => {
  const groups = COMMAND_GROUPS.map((group) => {
    const rows = Object.entries(COMMANDS).flatMap(([name, entry]) =>
      entry.group === group ? [`| \`weir ${name}\` | ${entry.summary} |`] : [],
    )
    return [`| ${group} | |`, '| --- | --- |', ...rows].join('\n')
  })
  const page = readFileSync(PAGE, 'utf8')
  const expected = page.replace(PLACE, () => `\n${groups.join('\n\n')}\n\n`)
  await expect(expected).toMatchFileSnapshot(PAGE)
})
