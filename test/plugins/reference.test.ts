import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SHIPPED } from '../../src/plugins/shipped.ts'
import { type Plugin, referencePage } from '../../src/sdk/index.ts'

// `npx vitest run -u test/plugins/reference.test.ts` writes the pages anew.

const PAGES = join(import.meta.dirname, '../../docs/connectors')

describe('the reference pages', () => {
  it.each(SHIPPED.map((plugin) => ({ name: plugin.class, plugin })))(
    'say of $name what its spec says',
    async ({ plugin }) => {
      await expect(referencePage(plugin)).toMatchFileSnapshot(join(PAGES, pageOf(plugin)))
    },
  )

  it('have an index that leads to all of them', async () => {
    await expect(index()).toMatchFileSnapshot(join(PAGES, 'README.md'))
  })

  it('are those of what ships, and no others', () => {
    const expected = ['README.md', ...SHIPPED.map(pageOf)]
    expect(
      globSync('*.md', { cwd: PAGES })
        .map((page) => basename(page))
        .sort(),
    ).toEqual(expected.sort())
  })
})

function pageOf({ class: name }: Plugin): string {
  return `${name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`
}

function index(): string {
  const line = (plugin: Plugin) => `- [${plugin.class}](${pageOf(plugin)}): ${plugin.summary}`
  const list = (title: string, kinds: readonly Plugin['kind'][]) =>
    `## ${title}\n\n${SHIPPED.filter(({ kind }) => kinds.includes(kind))
      .map(line)
      .join('\n')}\n`
  return [
    '# Connectors and converters\n',
    'Written from the specs in `src/plugins`; every name on a page works in a configuration.\n',
    list('Connectors', ['source', 'sink']),
    list('Converters', ['converter', 'header_converter']),
  ].join('\n')
}
