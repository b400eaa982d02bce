import { type ConfigDefinition, describeConfig } from './config.ts'
import type { Plugin } from './plugin.ts'

const KINDS: Readonly<Record<Plugin['kind'], { readonly what: string; readonly keys: string }>> = {
  source: { what: 'source connector', keys: '' },
  sink: { what: 'sink connector', keys: '' },
  converter: { what: 'converter', keys: 'Set these keys with the prefix `key.converter.` or `value.converter.`.' },
  header_converter: { what: 'header converter', keys: 'Set these keys with the prefix `header.converter.`.' },
  transformation: { what: 'transform', keys: 'Set these keys with the prefix `transforms.NAME.`.' },
  predicate: { what: 'predicate', keys: 'Set these keys with the prefix `predicates.NAME.`.' },
  provider: { what: 'config provider', keys: 'Set these keys with the prefix `config.providers.NAME.param.`.' },
}

const KEY_VALUE_HEADER_CONVERTER = {
  what: 'converter for keys, values and headers',
  keys: 'Set these keys with the prefix `key.converter.`, `value.converter.` or `header.converter.`.',
}

/** The content of a reference page. */
export type PluginReference = {
  readonly kind: Plugin['kind']
  readonly class: string
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly notes?: string | undefined
  readonly definitions: readonly ConfigDefinition[]
}

/** The reference page of a plugin in Markdown. Plugins that differ in their names only (`twins`) share a page. */
export function referencePage(plugin: Plugin, ...twins: readonly Plugin[]): string {
  return renderReference({ ...plugin, definitions: describeConfig(plugin.config) }, ...twins)
}

/** The reference page from the description of a plugin that is not loaded in this process. */
export function renderReference(
  plugin: PluginReference,
  ...twins: readonly Pick<PluginReference, 'kind' | 'class' | 'aliases'>[]
): string {
  const isForHeaders = plugin.kind === 'converter' && twins.some(({ kind }) => kind === 'header_converter')
  const { what, keys } = isForHeaders ? KEY_VALUE_HEADER_CONVERTER : KINDS[plugin.kind]
  const names = new Set([plugin, ...twins].flatMap((named) => [named.class, ...(named.aliases ?? [])]))
  const { definitions } = plugin
  const sections = [
    `# ${plugin.class.split('$')[0]}`,
    plugin.summary,
    `Type: ${what}. Class names: ${[...names].map(code).join(', ')}.`,
    ...(plugin.notes === undefined ? [] : [plugin.notes.trim()]),
    '## Configuration',
    ...(definitions.length === 0 ? [`This ${what} has no configuration keys.`] : [keys, table(definitions)]),
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

function table(definitions: readonly ConfigDefinition[]): string {
  const rows = definitions.map(({ name, type, required, defaultValue, importance, documentation, recommended }) => {
    const words = recommended.length === 0 || type === 'BOOLEAN' ? '' : ` One of ${recommended.map(code).join(', ')}.`
    const fallback = required ? 'required' : defaultValue === null ? '' : code(defaultValue)
    const cells = [code(name), type.toLowerCase(), fallback, importance.toLowerCase(), sentence(documentation) + words]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  })
  return ['| Key | Type | Default | Importance | Description |', '| --- | --- | --- | --- | --- |', ...rows].join('\n')
}

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``
}

function sentence(text: string): string {
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`
}
