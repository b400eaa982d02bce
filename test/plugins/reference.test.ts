import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeConfig, type Plugin, referencePage } from '../../src/sdk/index.ts'
import { SHIPPED } from '../support/shipped-plugins.ts'

// `npx vitest run test/plugins/reference.test.ts -u` writes the pages anew.

const PAGES = join(import.meta.dirname, '../../docs/connectors')

/** A page's plugins: the transforms of keys and of values share one. */
const groups = [...Map.groupBy(SHIPPED, pageOf)]
/** Plugins with at most one key and few notes are rows of the index. */
const [small, pages] = [groups.filter(isSmall), groups.filter((group) => !isSmall(group))]

describe('the generated pages in docs/connectors', () => {
  it.each([...pages])('have the current content: %s', async (page, [plugin, ...twins]) => {
    await expect(referencePage(plugin!, ...twins)).toMatchFileSnapshot(join(PAGES, page))
  })

  it('have a current index', async () => {
    await expect(index()).toMatchFileSnapshot(join(PAGES, 'README.md'))
  })

  it('exist for all shipped plugins and no others', () => {
    const expected = ['README.md', ...pages.map(([page]) => page)]
    expect(
      globSync('*.md', { cwd: PAGES })
        .map((page) => basename(page))
        .sort(),
    ).toEqual(expected.sort())
  })
})

function isSmall([, [plugin]]: [string, Plugin[]]): boolean {
  const notes = plugin!.notes?.trim() ?? ''
  return describeConfig(plugin!.config).length <= 1 && notes.length <= 250
}

function pageOf({ class: name }: Plugin): string {
  return `${bareName(name)
    .replace(/(?<=[a-z\d])(?=[A-Z])/g, '-')
    .toLowerCase()}.md`
}

function bareName(name: string): string {
  return name.replace(/\$.*/, '')
}

function index(): string {
  const line = ([page, [plugin]]: [string, Plugin[]]) => `- [${bareName(plugin!.class)}](${page}): ${plugin!.summary}`
  const list = (title: string, kinds: readonly Plugin['kind'][]) => {
    const listed = pages.filter(([, [plugin]]) => kinds.includes(plugin!.kind))
    return `## ${title}\n\n${listed.map(line).join('\n')}\n`
  }
  return [
    '# Plugins that ship with Weir\n',
    'Generated from the plugins in `src/plugins`. Each class name on a page can be used in configurations.\n',
    list('Connectors', ['source', 'sink']),
    list('Converters', ['converter', 'header_converter']),
    list('Transforms', ['transformation']),
    list('Config providers', ['provider']),
    `## Plugins with at most one key\n\n${smallTable()}\n`,
  ].join('\n')
}

/** The type, the class names and the key are those that a page would have. */
function smallTable(): string {
  const rows = small.map(([, [plugin, ...twins]]) => {
    const page = referencePage(plugin!, ...twins)
    const [, type, names] = /^Type: (.*?)\. Class names: (.*)\.$/m.exec(page)!
    const [, key, , fallback, , description] = /^\| (`[^|]+) \| (.*?) \| (.*?) \| (.*?) \| (.*) \|$/m.exec(page) ?? []
    const keyCell = key === undefined ? '' : `${key}${fallback === '' ? '' : ` (${fallback})`}: ${description}`
    const summary = [plugin!.summary, plugin!.notes?.trim().replaceAll('\n', ' ')].filter(Boolean).join(' ')
    return `| ${[names, type, summary, keyCell].join(' | ')} |`
  })
  return ['| Class names | Type | Description | Key |', '| --- | --- | --- | --- |', ...rows].join('\n')
}
